/* SPDX-License-Identifier: MIT
 * client_conn_per_query: opens a connection for each query when it is due (config->conn_per_query).
 *
 * Slots are taken from a list of free ones.  If none is free, too many connections are still open,
 * and the query is not sent.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_CONN_PER_QUERY_H
#define TCPSCALER_CLIENT_WORKER_CONN_PER_QUERY_H

#include "client/worker/connect.h"
#include "client/worker/slots.h"
#include "client/worker/transport.h"

#include <stdint.h>

struct client_conn_per_query {
    struct client_transport *transport;
    struct client_slots *slots;
    struct client_connect *connect;
    uint32_t *free; /* slots; NULL: not conn_per_query */
    uint32_t n_free;
};

/* The fields before `free` are set by the caller.  Returns 0, or -1 if out of memory. */
int client_conn_per_query_init(struct client_conn_per_query *o);
void client_conn_per_query_free(struct client_conn_per_query *o);

/* Opens a connection; due_ns: when it was due, 0: not measured.  Returns NULL if no slot is free: a
 * measured one then counts as missed.  The connection may have ended already.  Call it from the
 * event loop, never from a callback of a connection or a query. */
struct client_conn *client_conn_per_query_open(struct client_conn_per_query *o, uint64_t due_ns);

/* A connection has ended (client_conn_take_ended()): its slot is free. */
void client_conn_per_query_ended(struct client_conn_per_query *o, const struct client_conn *c);

#endif
