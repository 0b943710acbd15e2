/* SPDX-License-Identifier: MIT
 * client_events: waits for the sockets of a worker's connections and takes them from connecting
 * through TLS's handshake to reading and writing.  Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_EVENTS_H
#define TCPSCALER_CLIENT_WORKER_EVENTS_H

#include "client/worker/transport.h"

/* CONNECTING: its socket is connecting, or connected already. */
void client_events_open(struct client_conn *c, int fd);

/* After a failed send: takes the answers that are still in the socket, then closes. */
void client_events_broken(struct client_conn *c, int error);

/* ENDED: has ops->waited called after a while, unless that is stopped before.  Returns 0 or -1. */
int client_events_wait(struct client_conn *c, const struct timeval *wait);
void client_events_stop_wait(struct client_conn *c);

#endif
