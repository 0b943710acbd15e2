/* SPDX-License-Identifier: MIT
 * client_turnover: which of a worker's connections come and go during a run.
 *
 * Without --queries-per-conn and --reconnect nothing follows the end of a connection: its slot
 * stays empty until more connections are wanted.  With them another one takes its slot: at once
 * when it was given all the queries it may carry, after a growing wait (workload/backoff.h) when it
 * failed. How many are wanted may follow a schedule or requests (client/worker/pool.h).
 *
 * Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_TURNOVER_H
#define TCPSCALER_CLIENT_WORKER_TURNOVER_H

#include "client/worker/connect.h"
#include "client/worker/pool.h"
#include "client/worker/slots.h"
#include "client/worker/transport.h"
#include "measure/outcome.h"
#include "workload/pacer.h"

#include <event2/event_struct.h>
#include <stdint.h>

/* For changes by request without a connect rate: connections opened and closed per second, of all
 * workers together. */
#define CLIENT_TURNOVER_PER_S 500.0

struct client_turnover {
    struct client_transport *transport;
    struct client_slots *slots;
    struct client_pool *pool;
    struct client_connect *connect;
    struct pacer_segment rate;
    struct pacer pacer; /* of the steps */
    struct event tick_event, step_event;
    uint64_t start_ns; /* of the schedule of connections */
};

/* Prepares timers and pool: wanted is what the schedule of connections begins with, or all of them.
 * What stands before them in the structure is set. */
void client_turnover_init(struct client_turnover *to);

/* The schedule of connections, if there is one, begins at start_ns. */
void client_turnover_follow(struct client_turnover *to, uint64_t start_ns);

/* By request n <= n_slots connections, at the connect rate or CLIENT_TURNOVER_PER_S. */
void client_turnover_request(struct client_turnover *to, uint32_t n);

/* Slots are kept, and a connection was given a query: with the last one it may carry it is
 * FINISHING. */
void client_turnover_give(struct client_turnover *to, struct client_conn *c);

/* A connection has ended: another one follows in its slot, now or later, unless connecting has
 * stopped or the slot is no longer in the pool. */
void client_turnover_ended(struct client_turnover *to, struct client_conn *c,
                           struct outcome outcome);

/* Its wait is over: another one follows. */
void client_turnover_waited(struct client_turnover *to, struct client_conn *c);

/* Nothing is opened any more, and no wait goes on; connections under way go on. */
void client_turnover_stop(struct client_turnover *to);

/* Likewise; connections under way end as cancelled. */
void client_turnover_cancel(struct client_turnover *to);

/* Those that were requested and never begun end: for want of memory, or as cancelled. */
void client_turnover_count_missing(struct client_turnover *to);

#endif
