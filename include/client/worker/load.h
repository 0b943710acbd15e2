/* SPDX-License-Identifier: MIT
 * client_load: a worker's queries: when, on which connection, and what became of each.
 *
 * A turn takes every arrival that is due, queues it on its connection and sends what each
 * connection has to send with one call.  Turns start from a timerfd at the highest priority and
 * after every read.  While sockets wait to be read, as much time is left to reading as the last
 * turn took: at a low rate some microseconds; beyond what sending one by one can carry the turns
 * grow longer, and with them what one call sends and receives.  Arrivals keep their intended time
 * whatever happens.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_LOAD_H
#define TCPSCALER_CLIENT_WORKER_LOAD_H

#include "measure/outcome.h"
#include "workload/arrivals.h"
#include "workload/closed_loop.h"
#include "workload/inflight.h"
#include "workload/pacer.h"
#include "workload/schedule.h"
#include "workload/wakeup.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_worker;
struct client_conn;

struct client_load {
    struct inflight inflight;
    struct arrivals arrivals;
    struct closed_loop closed; /* instead of them, with CLIENT_LOOP_CLOSED */
    size_t next_asked;         /* what the next arrival asks (protocol/query.h) */
    uint64_t previous_intended_ns;
    struct wakeup wakeup;
    uint64_t ahead_ns; /* before the next turn the worker is awake; PACER_NEVER: always */
    uint64_t awake_ns; /* since when it has waited awake for the next turn; 0: it has not */
    int timer_fd;
    uint64_t timer_ns;         /* when the timer goes; PACER_NEVER: it is off */
    bool asleep;               /* the loop sleeps, and will not look at the clock before timer_ns */
    bool has_slept;            /* the timer woke it, and no turn has been taken since */
    struct event timer_event;  /* the next arrival */
    struct event rest_event;   /* nothing more to read: the next turn need not wait */
    uint64_t rest_until_ns;    /* before that reading has precedence */
    bool has_read;             /* since spinning last looked */
    struct event expiry_event; /* the oldest query's timeout */
    struct event drain_event;  /* end of the drain */
    uint64_t drain_end_ns;
    uint64_t start_ns, measure_ns, end_ns; /* begin of warm-up, of measurement, end of it */
    uint64_t last_sent_ns;                 /* of a measured query; 0: none was */
    uint64_t first_lag_ns;                 /* the first one's, after it was due */
    uint64_t now_ns;                       /* the latest stamp taken: what is due is judged by it */
    bool running;                          /* arrivals are taken */
    bool draining;
};

/* Prepares tables and timers.  Returns 0 or -1 with errno. */
int client_load_init(struct client_worker *cw);
void client_load_free(struct client_worker *cw);

/* The schedule begins at start_ns. */
void client_load_start(struct client_worker *cw, uint64_t start_ns);

/* Another schedule from its begin on (pacer_replace()), borrowed, and another end; nothing when it
 * is over. */
void client_load_replace(struct client_worker *cw, const struct schedule *schedule,
                         uint64_t end_ns);

/* Ends at once: what is in flight or waiting is cancelled, the worker enters DRAINED. */
void client_load_stop(struct client_worker *cw);

/* Queues the query that proves a fresh connection; the caller's callback ends with
 * client_send_all(). */
void client_load_prove(struct client_conn *c);

/* The connection became usable. */
void client_load_joined(struct client_conn *c);

/* Before the loop looks at the sockets: sends what is due.  Returns whether the loop may sleep;
 * otherwise the next query is due so soon that it must look at them once and return. */
bool client_load_before_turn(struct client_worker *cw);

/* After a connection's input was consumed: sends what became due or free meanwhile. */
void client_load_after_read(struct client_worker *cw);

/* With a closed loop: the connection's next query is due one interval after now_ns. */
void client_load_next_in_closed_loop(struct client_conn *c, uint64_t now_ns);

/* After the end of the schedule: when nothing is queued or awaited any more, the worker is DRAINED.
 */
void client_load_check_drained(struct client_worker *cw);

/* Sets a timer to an absolute time: it may be some milliseconds early or late. */
void client_load_add_timer(struct event *event, uint64_t at_ns, uint64_t now_ns);

#endif
