/* SPDX-License-Identifier: MIT
 * client_query: a worker's queries from being queued on: sent, given up or lost with their
 * connection, and how each is counted.  client_answer handles answers.  Used by the worker's thread
 * only. */
#ifndef TCPSCALER_CLIENT_WORKER_QUERY_H
#define TCPSCALER_CLIENT_WORKER_QUERY_H

#include "client/worker/due.h"
#include "client/worker/idle.h"
#include "client/worker/span.h"
#include "client/worker/transport.h"
#include "measure/outcome.h"
#include "measure/tally.h"
#include "workload/inflight.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_queries {
    struct client_transport *transport;
    struct client_figures *figures;
    struct client_span *span;
    struct client_due *due;
    struct client_idle *idle; /* used with connections on demand only */
    struct inflight inflight;
    struct event expiry_event; /* the oldest query's timeout */
    struct event read_event;   /* when it is over: nothing left to read */
    uint64_t overdue_ns;       /* queries that timed out by then are given up then */
    bool is_expiring;          /* not all of these are given up yet */
};

/* inflight_query.tag: the tally class, whether the query was counted as blocked, and whether it
 * waited for its connection to open. */
enum { CLIENT_QUERY_CLASS = 0x0f, CLIENT_QUERY_BLOCKED = 0x10, CLIENT_QUERY_WAITED = 0x20 };

/* Returns the class of the query's connection; 0: there are no classes. */
static inline uint32_t client_query_class(const struct client_queries *qs,
                                          const struct inflight_query *q)
{
    return qs->figures->classes != NULL ? qs->transport->conns[q->connection].class_index : 0;
}

/* Counts a query, in all and in its class.  count: TALLY_OF(). */
static inline void client_query_count(struct client_queries *qs, const struct inflight_query *q,
                                      size_t count)
{
    client_figures_count_query(qs->figures, (enum tally_class)(q->tag & CLIENT_QUERY_CLASS),
                               client_query_class(qs, q), count);
}

static inline bool client_query_is_measured(const struct inflight_query *q)
{
    return (q->tag & CLIENT_QUERY_CLASS) == TALLY_MEASURED;
}

/* Returns how much address space the tables of all workers take at first.  Main thread. */
uint64_t client_query_in_flight_bytes(const struct client_config *config);

/* Prepares the table and the timer.  The fields before them are set by the caller.  Returns 0, or
 * -1 if out of memory. */
int client_query_init(struct client_queries *qs);
void client_query_free(struct client_queries *qs);

/* Disarms the timer until the next client_query_arm_expiry(). */
void client_query_disarm_expiry(struct client_queries *qs);

/* Counts a measured query of a class that has no answer and will not get one.  sent: whether it was
 * sent. */
void client_query_unanswered(struct client_queries *qs, uint32_t class_index, bool sent);

/* Gives up a query that timed out.  May close its connection. */
void client_query_expire(struct client_queries *qs, uint32_t slot, uint64_t now_ns);

/* Gives up all queries that timed out by until_ns. */
void client_query_expire_due(struct client_queries *qs, uint64_t until_ns);

/* Sets the timer, unless it is set. */
void client_query_arm_expiry(struct client_queries *qs);

/* Counts a query as sent at sent_ns: it was written to its socket, or waits for room there. */
void client_query_sent(struct client_queries *qs, struct inflight_query *q, uint64_t sent_ns);

/* Gives up the connection's queued queries that found no id within the timeout: they are never
 * sent.  May close the connection. */
void client_query_give_up_blocked(struct client_queries *qs, struct client_conn *c);

/* Ends all queries of a connection, because it closes or the run ends: those queued are unsent,
 * the others have this outcome. */
void client_query_lost(struct client_queries *qs, struct client_conn *c, struct outcome outcome);

/* Ends queries that wait for a connection that failed, with this outcome, before it was usable. */
void client_query_unconnected(struct client_queries *qs, struct inflight_list *waiting,
                              struct outcome outcome);

#endif
