/* SPDX-License-Identifier: MIT
 * client_dispatch: queues each due query on a connection that can take it.  Used by the worker's
 * thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_DISPATCH_H
#define TCPSCALER_CLIENT_WORKER_DISPATCH_H

#include "client/worker/batch.h"
#include "client/worker/conn_per_query.h"
#include "client/worker/demand.h"
#include "client/worker/due.h"
#include "client/worker/pool.h"
#include "client/worker/query.h"
#include "client/worker/select.h"
#include "client/worker/send.h"
#include "client/worker/slots.h"
#include "client/worker/span.h"
#include "client/worker/transport.h"
#include "client/worker/turnover.h"
#include "client/worker/usable.h"

#include <stdbool.h>
#include <stdint.h>

struct client_dispatch {
    struct client_transport *transport;
    struct client_span *span;
    struct client_due *due;
    struct client_queries *queries;
    struct client_send *send;
    const struct client_slots *slots;
    struct client_usable *usable;
    const struct client_pool *pool;
    struct client_turnover *turnover;
    struct client_conn_per_query *conn_per_query; /* with config->conn_per_query */
    struct client_demand *demand;
    struct client_select select;
    struct client_batch batch;
    uint64_t previous_intended_ns, most_per_turn;
};

/* The fields before `select` are set by the caller.  Returns 0, or -1 if out of memory. */
int client_dispatch_init(struct client_dispatch *d);
void client_dispatch_free(struct client_dispatch *d);

/* Starts the schedule at start_ns.  takes_arrivals: one flag per worker, borrowed. */
void client_dispatch_start(struct client_dispatch *d, const bool *takes_arrivals,
                           uint64_t start_ns);

/* See client_due_replace(). */
void client_dispatch_replace(struct client_dispatch *d, const struct schedule *schedule);

/* Queues the queries due by now_ns, up to the limit per turn. */
void client_dispatch_due(struct client_dispatch *d, uint64_t now_ns);

/* Queues the query that proves a new connection; client_send_all() sends it.  May close the
 * connection. */
void client_dispatch_proof(struct client_dispatch *d, struct client_conn *c);

/* With config->conn_per_query: a connection has become usable.  It takes only its own query. */
void client_dispatch_opened(struct client_dispatch *d, struct client_conn *c);

#endif
