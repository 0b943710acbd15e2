/* SPDX-License-Identifier: MIT
 * client_demand: clients that open a connection when a query is due and none is open (RFC 7766).
 *
 * Each slot is a client.  A query that is due while its client has no usable connection waits in
 * the client's list; the first one requests a connection (client/worker/connect.h).  When that is
 * usable, the list becomes the connection's queue; if it fails, its outcome is that of the queries.
 * Queries that are due while a connection closes wait for the next one.
 *
 * Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_DEMAND_H
#define TCPSCALER_CLIENT_WORKER_DEMAND_H

#include "client/worker/answer.h"
#include "client/worker/connect.h"
#include "client/worker/idle.h"
#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/transport.h"
#include "measure/outcome.h"

#include <stddef.h>
#include <stdint.h>

struct client_demand {
    struct client_transport *transport;
    struct client_connect *connect;
    struct client_queries *queries;
    struct client_send *send;
    struct client_answers *answers;
    struct client_idle *idle;
    struct client_demand_client *clients; /* one per slot; NULL: not on demand */
};

/* Returns how much memory a worker keeps for each client, for the parts that only clients on demand
 * use: this one, client_idle, and client_hold.  Main thread. */
size_t client_demand_bytes(const struct client_config *config);

/* Allocates the clients.  The fields before `clients` are set by the caller.  Returns 0, or -1 if
 * out of memory. */
int client_demand_init(struct client_demand *d);
void client_demand_free(struct client_demand *d); /* also if all zero */

/* Queues a query that is due for the client in a slot.  Returns the query's slot, or INFLIGHT_NONE
 * if out of memory. */
uint32_t client_demand_queue(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                             uint8_t class);

/* The connection became usable: the queries that waited for it become its queue. */
void client_demand_usable(struct client_demand *d, struct client_conn *c, uint64_t now_ns);

/* Processes received bytes, like client_answer_take(). */
void client_demand_answers(struct client_demand *d, struct client_conn *c, const uint8_t *data,
                           size_t n_bytes, uint64_t received_ns);

/* The connection has ended, and its queries with it.  If it was never usable, ends the queries that
 * waited for it, too. */
void client_demand_ended(struct client_demand *d, struct client_conn *c, struct outcome outcome);

/* The slot of an ended connection is free: requests another one if queries wait. */
void client_demand_slot_freed(struct client_demand *d, const struct client_conn *c);

/* Opens no more connections: the queries that wait are cancelled. */
void client_demand_stop(struct client_demand *d);

/* Counts connections that were requested and never attempted.  Call it last. */
void client_demand_count_withdrawn(struct client_demand *d);

#endif
