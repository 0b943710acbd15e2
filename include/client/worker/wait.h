/* SPDX-License-Identifier: MIT
 * client_wait: the delay before a slot is reused, or the next source tuples are tried.  Used by the
 * worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_WAIT_H
#define TCPSCALER_CLIENT_WORKER_WAIT_H

#include "client/worker/transport.h"

/* Calls ops->waited for an ENDED connection, or one that is CONNECTING and has no socket yet, after
 * a delay, unless it is stopped, or closed, before.  Returns 0 or an errno. */
int client_wait_start(struct client_conn *c, const struct timeval *wait);

/* No effect unless the connection is ENDED and waits. */
void client_wait_stop(struct client_conn *c);

#endif
