/* SPDX-License-Identifier: MIT
 * client_connect: opens a worker's connections, limited in number at a time and per second;
 * those that follow others in their slot, too.
 *
 * A connection is counted in the window until it is proven (or half-open, or ended), so the
 * server's accept queue is never asked for more than the window.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_CONNECT_H
#define TCPSCALER_CLIENT_WORKER_CONNECT_H

#include "client/worker/pool.h"
#include "client/worker/send.h"
#include "client/worker/slots.h"
#include "client/worker/span.h"
#include "client/worker/stage.h"
#include "client/worker/transport.h"
#include "client/worker/tuples.h"
#include "workload/pacer.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_connect {
    struct client_transport *transport;
    struct client_slots *slots;
    struct client_pool *pool;
    struct client_send *send;
    struct client_stages *stages;
    const struct client_span *span;
    struct client_tuples tuples;
    struct pacer_segment rate;
    struct pacer pacer; /* only with a connect rate */
    struct event due_event;
    uint32_t *again; /* ring of n_conns: slots in which another connection is to begin */
    uint32_t first_again, n_again;
    uint32_t n_in_window;
    bool opening;   /* in client_connect_more(): it needs no event to go on */
    bool idle;      /* none was wanted: the rate keeps no credit for that time */
    bool unlimited; /* not only the first window may be opened */
    bool stopped;
};

/* Prepares tuples and timers; what stands before them in the structure is set.  Returns 0 or -1
 * with errno. */
int client_connect_init(struct client_connect *cc);
void client_connect_free(struct client_connect *cc);

/* Begins; start_ns, now or a moment ago, is common to all workers. */
void client_connect_start(struct client_connect *cc, uint64_t start_ns);

/* Starts a pacer for this worker's share of the total connections per second; *rate is
 * its segment, and lives as long. */
void client_connect_pace(const struct client_connect *cc, struct pacer *pacer,
                         struct pacer_segment *rate, double per_s, uint64_t start_ns);

/* The connection leaves the window, if it is in it: proven, half-open or ended.  Opens nothing: the
 * caller may still be using connections and queries.  The window is filled again from an event. */
void client_connect_settled(struct client_connect *cc, struct client_conn *c);

/* Until one of this worker's connections is usable, it opens only its first window: if nobody
 * answers, nothing more is attempted.  From now on it opens the others as well. */
void client_connect_beyond_first_window(struct client_connect *cc);

/* Another one is to begin in the slot of a connection that has ended: later, from an event. */
void client_connect_again(struct client_connect *cc, uint32_t slot);

/* No other one is to begin there, after all. */
void client_connect_not_again(struct client_connect *cc, uint32_t slot);

/* Opens those that are wanted, as window and rate allow, and sends their proofs.  Connections may
 * end by it: call it from the loop, never from what happens to a connection or a query. */
void client_connect_more(struct client_connect *cc);

/* No more connects; those under way go on. */
void client_connect_begin_no_more(struct client_connect *cc);

#endif
