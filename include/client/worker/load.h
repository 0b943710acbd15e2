/* SPDX-License-Identifier: MIT
 * client_load: decides when a worker sends its queries.
 *
 * A turn takes every due arrival, queues it on its connection and sends the queue of each
 * connection with one call.  A timerfd of the highest priority and every read start a turn.  While
 * sockets wait to be read, reading gets as much time as the last turn took: some microseconds at a
 * low rate; above the rate that one call per query can sustain, turns grow longer, and each call
 * sends and receives more.  Arrivals keep their intended time.
 *
 * A new schedule takes effect a moment after it was published (client/steer.h).  A turn checks for
 * it after reading the clock, so that even a late worker takes no arrival of the old schedule that
 * is due after that moment.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_LOAD_H
#define TCPSCALER_CLIENT_WORKER_LOAD_H

#include "client/worker/demand.h"
#include "client/worker/dispatch.h"
#include "client/worker/due.h"
#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/span.h"
#include "client/worker/stage.h"
#include "client/worker/subscribe.h"
#include "client/worker/targets.h"
#include "client/worker/turnover.h"
#include "net/alarm.h"
#include "workload/wakeup.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_load {
    struct client_transport *transport;
    struct client_targets_copy *targets; /* this worker's */
    struct client_span *span;
    struct client_stages *stages;
    struct client_due *due;
    struct client_dispatch *dispatch;
    struct client_queries *queries;
    struct client_send *send;
    struct client_turnover *turnover;
    struct client_subscribe *subscribe;
    struct client_demand *demand;
    struct wakeup wakeup;
    uint64_t ahead_ns;        /* busy-wait this long before the next turn; PACER_NEVER: always */
    uint64_t awake_ns;        /* start of the current busy-wait; 0: none */
    uint64_t timer_ns;        /* expiry of the timer; PACER_NEVER: disarmed */
    bool asleep;              /* the loop sleeps and does not read the clock before timer_ns */
    bool has_slept;           /* the timer woke it up, and no turn has started since */
    struct alarm alarm;       /* next arrival */
    struct event rest_event;  /* nothing left to read: the next turn need not wait */
    uint64_t rest_until_ns;   /* until then reading takes precedence */
    bool has_read;            /* a socket was read since the last busy-wait */
    struct event drain_event; /* end of the drain */
    struct event read_event;  /* then: nothing left to read */
    uint64_t drain_end_ns;
    bool draining;
};

/* Prepares timers.  The fields before `wakeup` are set by the caller.  Returns 0 or -1 with errno.
 */
int client_load_init(struct client_load *l);
void client_load_free(struct client_load *l);

/* Starts the schedule at start_ns.  takes_arrivals: one flag per worker, borrowed. */
void client_load_start(struct client_load *l, const bool *takes_arrivals, uint64_t start_ns);

/* Applies the targets that the worker has copied: the schedule, the start of the measurement and
 * its end.  No effect once it is over. */
void client_load_follow(struct client_load *l);

/* Ends at once: cancels queries in flight, and queued ones stay unsent.  The worker enters DRAINED;
 * with config->listens, once the server has ended its connections, or after the timeout. */
void client_load_stop(struct client_load *l);

/* Sends what is due, before the loop polls the sockets.  Returns whether the loop may sleep; if
 * not, the next query is due so soon that the loop must poll without waiting. */
bool client_load_before_turn(struct client_load *l);

/* Called after a connection's input was processed: sends queries that have become due, or have got
 * an id, in the meantime. */
void client_load_after_read(struct client_load *l);

/* After the end of the schedule: enters DRAINED once nothing is queued or in flight. */
void client_load_check_drained(struct client_load *l);

#endif
