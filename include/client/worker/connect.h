/* SPDX-License-Identifier: MIT
 * client_connect: opens and reopens a worker's connections, limited by a window and a rate.
 *
 * A connection is in the window from its connect until it is usable, half-open or ended.  With
 * config->prove, the server's accept queue thus never holds more than the window.  With
 * config->connect_arrival they arrive on schedule instead, and the window is a limit that is
 * normally not reached; config->conn_per_query does not use it.  Used by the worker's thread only.
 */
#ifndef TCPSCALER_CLIENT_WORKER_CONNECT_H
#define TCPSCALER_CLIENT_WORKER_CONNECT_H

#include "client/worker/hold.h"
#include "client/worker/pool.h"
#include "client/worker/reopen.h"
#include "client/worker/send.h"
#include "client/worker/slots.h"
#include "client/worker/span.h"
#include "client/worker/stage.h"
#include "client/worker/transport.h"
#include "client/worker/tuples.h"
#include "net/alarm.h"
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
    struct pacer pacer;     /* only used with a connect rate */
    uint64_t due_ns;        /* when the connection being opened was due; 0: not on schedule */
    uint64_t full_until_ns; /* with connect_arrival: last time that the window was full */
    struct event due_event;
    struct alarm alarm;          /* with connect_arrival: replaces due_event */
    bool awaits_arrival;         /* the alarm is set */
    struct client_reopen reopen; /* without room unless slots are kept */
    struct client_hold hold;     /* kept on demand, with a connect rate */
    bool was_reopened;           /* the last connection opened was a reopened one */
    uint32_t n_in_window;
    bool opening;   /* client_connect_more() is running: no event is needed to continue */
    bool idle;      /* nothing to open: the rate accumulates no credit */
    bool unlimited; /* more than the first window may be opened */
    bool no_more;   /* client_connect_no_more() */
    bool stopped;
};

/* Prepares tuples and timers.  The fields before `tuples` are set by the caller.  Returns 0 or -1
 * with errno. */
int client_connect_init(struct client_connect *cc);
void client_connect_free(struct client_connect *cc);

/* Starts connecting.  start_ns: at most now, common to all workers. */
void client_connect_start(struct client_connect *cc, uint64_t start_ns);

/* Starts a pacer of a total rate, with the arrivals of --connect-arrival, at this worker's first
 * arrival.  All workers have the same sequence, and worker w of W takes its arrivals w, w + W, ...:
 * with processes of their own, some would have opened their connections long before others.  *rate
 * is the pacer's segment and must outlive it. */
void client_connect_pace(const struct client_connect *cc, struct pacer *pacer,
                         struct pacer_segment *rate, double per_s, uint64_t start_ns);

/* Goes on to this worker's next arrival. */
void client_connect_next(const struct client_connect *cc, struct pacer *pacer);

/* A connection is proven, half-open or ended: takes it out of the window, if it is in it.  Opens
 * nothing, because the caller may still be using connections and queries; an event refills the
 * window. */
void client_connect_settled(struct client_connect *cc, struct client_conn *c);

/* Allows more connects than the first window.  Until a connection is usable, the worker opens only
 * its first window, so that no more are attempted if the server does not answer. */
void client_connect_beyond_first_window(struct client_connect *cc);

/* Opens no slot that was never opened.  Those being opened continue, and ended ones are replaced.
 */
void client_connect_no_more(struct client_connect *cc);

/* Ends client_connect_no_more(), before client_connect_more(). */
void client_connect_again(struct client_connect *cc);

/* The connection of a slot that is no longer in the pool has ended: if it is the next slot, and
 * wanted again, an event opens it. */
void client_connect_freed(struct client_connect *cc);

/* Schedules a connection for a free slot: another one, or on demand the first.  An event opens it
 * later.  No effect after client_connect_stop(). */
void client_connect_reopen(struct client_connect *cc, uint32_t slot);

/* Cancels client_connect_reopen() for the slot. */
void client_connect_cancel_reopen(struct client_connect *cc, uint32_t slot);

/* Opens connections as window and rate allow and sends their proofs.  Some may have ended when this
 * returns: call it from the event loop, never from a callback of a connection or a query. */
void client_connect_more(struct client_connect *cc);

/* Opens a connection, which was due at due_ns (client_setup_times_opened()), in a free slot.  It
 * may have ended when this returns. */
void client_connect_open(struct client_connect *cc, struct client_conn *c, uint64_t due_ns);

/* Tries again to open a connection that waits because many source tuples were refused. */
void client_connect_try(struct client_connect *cc, struct client_conn *c);

/* Stops connecting.  Connections being opened continue. */
void client_connect_stop(struct client_connect *cc);

#endif
