/* SPDX-License-Identifier: MIT
 * client_send: the queue of connections that have queries to send, each once, in the order of their
 * first query.  One call sends all queries of a connection.
 *
 * Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_SEND_H
#define TCPSCALER_CLIENT_WORKER_SEND_H

#include "client/worker/query.h"
#include "client/worker/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct client_send {
    struct client_transport *transport;
    struct client_queries *queries;
    uint32_t *ring; /* n_conns slots */
    uint32_t first, n;
    uint8_t *to_send; /* encoded queries */
};

/* transport and queries are set by the caller.  Returns 0, or -1 if out of memory. */
int client_send_init(struct client_send *s);
void client_send_free(struct client_send *s);

/* Adds the connection to the queue, unless it is in it. */
void client_send_join(struct client_send *s, struct client_conn *c);

/* Gives ids to the queries of all queued connections, encodes and sends them.  A query that gets no
 * id stays queued and keeps its intended time.  A query whose socket is full counts as sent and
 * waits for room, up to its timeout.  May close connections: call it from the event loop, never
 * from a callback of a connection or a query. */
void client_send_all(struct client_send *s);

/* The connection's socket has room: writes the queries that wait for it.  May close the connection.
 * Returns whether some still wait. */
bool client_send_waiting(struct client_send *s, struct client_conn *c);

#endif
