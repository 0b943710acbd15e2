/* SPDX-License-Identifier: MIT
 * client_send: a worker's connections that have queries to send, each once, in the order in which
 * they got the first; all that a connection has leaves with one call.
 *
 * Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SEND_H
#define TCPSCALER_CLIENT_WORKER_SEND_H

#include "client/worker/query.h"
#include "client/worker/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct client_send {
    struct client_transport *transport;
    struct client_queries *queries;
    uint32_t *ring; /* of n_conns slots */
    uint32_t first, n;
    uint8_t *to_send; /* encoded queries */
};

/* transport and queries are set.  Returns 0 or -1 (memory). */
int client_send_init(struct client_send *s);
void client_send_free(struct client_send *s);

/* It has something to send. */
void client_send_join(struct client_send *s, struct client_conn *c);

/* Gives ids to the queries of all that have joined, encodes and sends them.  What finds no id stays
 * queued and keeps its intended time; what finds its socket full is sent, and waits there for room
 * no longer than it waits for its answer.  Connections may end by it: call it from the loop, never
 * from what happens to a connection or a query. */
void client_send_all(struct client_send *s);

/* The connection's socket has room: writes the queries that wait for it.  It may end by it. Returns
 * whether some still wait. */
bool client_send_waiting(struct client_send *s, struct client_conn *c);

#endif
