/* SPDX-License-Identifier: MIT
 * client_events: waits for a worker's sockets and drives each connection through connect, TLS
 * handshake, reading and writing.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_EVENTS_H
#define TCPSCALER_CLIENT_WORKER_EVENTS_H

#include "client/worker/transport.h"

/* Adds the socket of a CONNECTING connection; it may be connected already. */
void client_events_open(struct client_conn *c, int fd);

/* After a failed send: processes the answers still in the socket, then closes the connection. */
void client_events_broken(struct client_conn *c, int error);

#endif
