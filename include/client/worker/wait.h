/* SPDX-License-Identifier: MIT
 * client_wait: the delay before a slot is reused.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_WAIT_H
#define TCPSCALER_CLIENT_WORKER_WAIT_H

#include "client/worker/transport.h"

/* Calls ops->waited for an ENDED connection after a delay, unless stopped before.  Returns 0 or -1.
 */
int client_wait_start(struct client_conn *c, const struct timeval *wait);
void client_wait_stop(struct client_conn *c);

#endif
