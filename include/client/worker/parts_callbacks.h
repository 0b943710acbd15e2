/* SPDX-License-Identifier: MIT
 * client_parts_callbacks: tells the parts of a worker what happens to its connections: forwards the
 * callbacks of struct client_conn_ops.  Each part knows the parts it uses; only client_parts and
 * this one know all of them.  Worker thread. */
#ifndef TCPSCALER_CLIENT_WORKER_PARTS_CALLBACKS_H
#define TCPSCALER_CLIENT_WORKER_PARTS_CALLBACKS_H

#include "client/worker/config.h"
#include "client/worker/transport.h"

struct client_parts;

/* Returns the callbacks for this configuration; their owner is the struct client_parts. */
const struct client_conn_ops *client_parts_ops(const struct client_config *config);

/* Handles ended connections.  Opens and closes none. */
void client_parts_follow_ends(struct client_parts *p);

#endif
