/* SPDX-License-Identifier: MIT
 * client_connect: opens a worker's connections, at most so many at a time and so many per second;
 * those that are to follow others in their place, too.
 *
 * A connection holds its place in the window until it is proven (or half-open, or ended), so the
 * server's accept queue is never asked for more than the window.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_CONNECT_H
#define TCPSCALER_CLIENT_WORKER_CONNECT_H

#include "measure/tally.h"
#include "workload/pacer.h"
#include "workload/srccursor.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_worker;
struct client_conn;

struct client_connect {
    struct srccursor tuples;
    struct pacer_segment rate;
    struct pacer pacer; /* only with a connect rate */
    struct event due_event;
    const struct timeval *timeout; /* common timeout of all connects */
    uint32_t *again;               /* ring of n_conns: places to begin another connection in */
    uint32_t first_again, n_again;
    uint32_t n_in_window, window;
    uint32_t n_settled;          /* places whose first connection has left the window */
    tally_count n_first_settled; /* how many of them before the first that has not */
    bool opening;                /* in client_connect_more(): it needs no event to go on */
    bool idle;                   /* none was wanted: the rate keeps no credit for that time */
    bool stopped;
    uint64_t first_ns, last_established_ns;
};

/* Prepares tuples and timers.  Returns 0 or -1 with errno. */
int client_connect_init(struct client_worker *cw);
void client_connect_free(struct client_worker *cw);

/* Begins; start_ns, now or a moment ago, is common to all workers. */
void client_connect_start(struct client_worker *cw, uint64_t start_ns);

/* Starts a pacer of this worker's part of so many connections per second, of all workers; *rate is
 * its segment, and lives as long. */
void client_connect_pace(const struct client_worker *cw, struct pacer *pacer,
                         struct pacer_segment *rate, double per_s, uint64_t start_ns);

/* The kernel found no port: from now on this worker takes the planned tuples of config->fallback.
 * Returns whether there are any. */
bool client_connect_use_fallback(struct client_worker *cw);

/* The connection leaves the window, if it is in it: proven, half-open or ended.  Opens nothing: the
 * caller may still be using connections and queries.  The window is filled again from an event. */
void client_connect_settled(struct client_worker *cw, struct client_conn *c);

/* Another one is to be begun in the place of a connection that has ended: later, from an event. */
void client_connect_again(struct client_worker *cw, const struct client_conn *c);

/* No other one is to be begun there, after all. */
void client_connect_not_again(struct client_worker *cw, const struct client_conn *c);

/* Begins those that are wanted, as window and rate allow, and sends their proofs.  Connections may
 * end by it: call it from the loop, never from what happens to a connection or a query. */
void client_connect_more(struct client_worker *cw);

/* No more connects; those under way go on. */
void client_connect_begin_no_more(struct client_worker *cw);

/* No more connects; those under way end as cancelled. */
void client_connect_stop(struct client_worker *cw);

#endif
