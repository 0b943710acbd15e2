/* SPDX-License-Identifier: MIT
 * client_batch: due queries, which are queued connection by connection if there are many of them.
 *
 * Queries are due in the order of time, on connections at random.  A worker that cannot keep up
 * queues several for each connection in a turn, and sends them and reads their answers connection
 * by connection: if the slots of a connection's queries are not neighbours (workload/inflight.h),
 * each of them is a cache miss each time.
 *
 * Pure; one owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_BATCH_H
#define TCPSCALER_CLIENT_WORKER_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A query to be queued. */
struct client_batch_query {
    uint64_t intended_ns;
    uint32_t slot;         /* of its connection */
    uint32_t query_offset; /* which query it is (protocol/query.h) */
    uint32_t gap_us;       /* since the previous arrival; UINT32_MAX: or longer */
    uint8_t tag;           /* how it is counted: enum tally_class */
};

struct client_batch {
    struct client_batch_query *queries; /* in the order they were added */
    uint32_t *order;                    /* indexes of queries, sorted */
    uint32_t *next_of;                  /* per connection: where its next query goes in order */
    uint32_t n, n_connections;
};

/* Room for CLIENT_BATCH_MOST queries of n_connections.  Their memory is only used as queries are
 * added.  Returns 0, or -1 if out of memory. */
int client_batch_init(struct client_batch *b, uint32_t n_connections);
void client_batch_free(struct client_batch *b);

enum { CLIENT_BATCH_MOST = 1 << 17 };

static inline bool client_batch_is_full(const struct client_batch *b)
{
    return b->n == CLIENT_BATCH_MOST;
}

/* Returns the next query, for the caller to fill in before it is added; the batch must not be full.
 */
static inline struct client_batch_query *client_batch_next(const struct client_batch *b)
{
    return &b->queries[b->n];
}

/* Adds the next query. */
static inline void client_batch_add(struct client_batch *b)
{
    b->n++;
}

/* Calls `take` with `context` for each query and empties the batch.  Those of a connection come in
 * the order they were added, and if there are many queries, one after the other. */
void client_batch_take_all(struct client_batch *b,
                           void (*take)(void *context, const struct client_batch_query *query),
                           void *context);

#endif
