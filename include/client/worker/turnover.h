/* SPDX-License-Identifier: MIT
 * client_turnover: replaces, opens and closes a worker's connections during a run.
 *
 * Without --queries-per-conn and --reconnect, the slot of an ended connection stays empty until
 * more connections are wanted.  With them the slot is reused: at once after a connection that
 * carried its last query, after a growing delay (workload/backoff.h) if it failed.  On demand it is
 * reused when a query is due (client/worker/demand.h).  The number wanted can follow a schedule or
 * requests (client/worker/pool.h).
 *
 * Used by the worker's thread only. */
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

/* Connections opened and closed per second by request if there is no connect rate, all workers
 * together. */
#define CLIENT_TURNOVER_PER_S 500.0

struct client_turnover {
    struct client_transport *transport;
    struct client_slots *slots;
    struct client_pool *pool;
    struct client_connect *connect;
    uint32_t queries_per_conn; /* without classes */
    struct pacer_segment rate;
    struct pacer pacer; /* paces the steps */
    struct event tick_event, step_event;
    uint64_t start_ns; /* start of the connection schedule */
};

/* Prepares timers and pool, which wants the initial number of the connection schedule, or all
 * slots.  The fields before `queries_per_conn` are set by the caller. */
void client_turnover_init(struct client_turnover *to);

/* Starts the connection schedule, if any, at start_ns. */
void client_turnover_follow(struct client_turnover *to, uint64_t start_ns);

/* Requests n <= n_slots connections, at the connect rate or CLIENT_TURNOVER_PER_S. */
void client_turnover_request(struct client_turnover *to, uint32_t n);

/* A connection was given a query.  After the last query it may carry it is FINISHING.  Slots must
 * be kept. */
void client_turnover_give(struct client_turnover *to, struct client_conn *c);

/* A connection has ended: its slot is reused, now or later, unless connecting was stopped or the
 * slot is no longer in the pool. */
void client_turnover_ended(struct client_turnover *to, struct client_conn *c,
                           struct outcome outcome);

/* The delay is over: reuses the slot. */
void client_turnover_waited(struct client_turnover *to, struct client_conn *c);

/* Opens nothing more and cancels all delays.  Connections being opened continue. */
void client_turnover_stop(struct client_turnover *to);

/* Likewise, and ends connections being opened as cancelled. */
void client_turnover_cancel(struct client_turnover *to);

/* Counts requested connections that were never opened (out of memory, or cancelled), and those that
 * failed and were not replaced. */
void client_turnover_count_missing(struct client_turnover *to);

#endif
