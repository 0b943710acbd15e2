/* SPDX-License-Identifier: MIT
 * client_load: when a worker sends its queries.
 *
 * A turn takes every arrival that is due, queues it on its connection and sends what each
 * connection has to send with one call.  Turns start from a timerfd at the highest priority and
 * after every read.  While sockets wait to be read, as much time is left to reading as the last
 * turn took: at a low rate some microseconds; beyond what sending one by one can carry the turns
 * grow longer, and with them what one call sends and receives.  Arrivals keep their intended time
 * whatever happens.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_LOAD_H
#define TCPSCALER_CLIENT_WORKER_LOAD_H

#include "client/worker/dispatch.h"
#include "client/worker/due.h"
#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/span.h"
#include "client/worker/stage.h"
#include "client/worker/subscribe.h"
#include "client/worker/turnover.h"
#include "workload/schedule.h"
#include "workload/wakeup.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_load {
    struct client_transport *transport;
    struct client_span *span;
    struct client_stages *stages;
    struct client_due *due;
    struct client_dispatch *dispatch;
    struct client_queries *queries;
    struct client_send *send;
    struct client_turnover *turnover;
    struct client_subscribe *subscribe;
    struct wakeup wakeup;
    uint64_t ahead_ns; /* before the next turn the worker is awake; PACER_NEVER: always */
    uint64_t awake_ns; /* since when it has waited awake for the next turn; 0: it has not */
    int timer_fd;
    uint64_t timer_ns;        /* when the timer goes; PACER_NEVER: it is off */
    bool asleep;              /* the loop sleeps, and will not look at the clock before timer_ns */
    bool has_slept;           /* the timer woke it, and no turn has been taken since */
    struct event timer_event; /* the next arrival */
    struct event rest_event;  /* nothing more to read: the next turn need not wait */
    uint64_t rest_until_ns;   /* before that reading has precedence */
    bool has_read;            /* since spinning last looked */
    struct event drain_event; /* end of the drain */
    uint64_t drain_end_ns;
    bool draining;
};

/* Prepares timers; what stands before `wakeup` in the structure is set.  Returns 0 or -1 with
 * errno.
 */
int client_load_init(struct client_load *l);
void client_load_free(struct client_load *l);

/* The schedule begins at start_ns.  takes_arrivals: of each worker, borrowed. */
void client_load_start(struct client_load *l, const bool *takes_arrivals, uint64_t start_ns);

/* Replaces the schedule (pacer_replace()), borrowed, and its end; nothing when it
 * is over. */
void client_load_replace(struct client_load *l, const struct schedule *schedule, uint64_t end_ns);

/* Ends at once: what is in flight or waiting is cancelled, the worker enters DRAINED. */
void client_load_stop(struct client_load *l);

/* Before the loop looks at the sockets: sends what is due.  Returns whether the loop may sleep;
 * otherwise the next query is due so soon that it must look at them once and return. */
bool client_load_before_turn(struct client_load *l);

/* After a connection's input was consumed: sends what became due or free meanwhile. */
void client_load_after_read(struct client_load *l);

/* After the end of the schedule: when nothing is queued or awaited any more, the worker is DRAINED.
 */
void client_load_check_drained(struct client_load *l);

#endif
