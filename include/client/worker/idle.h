/* SPDX-License-Identifier: MIT
 * client_idle: closes connections that are idle: LIVE without a query queued or in flight, for as
 * long as --idle-close says or for almost as long as the server allows (edns-tcp-keepalive, RFC
 * 7828), whichever is shorter.  Only used with connections on demand.  Used by the worker's thread
 * only. */
#ifndef TCPSCALER_CLIENT_WORKER_IDLE_H
#define TCPSCALER_CLIENT_WORKER_IDLE_H

#include "client/worker/transport.h"
#include "workload/deadlines.h"

#include <event2/event_struct.h>
#include <stddef.h>
#include <stdint.h>

struct client_idle {
    struct client_transport *transport;
    struct deadlines deadlines; /* of idle connections: when they are closed */
    /* Idle time that the server allows, per slot, in units of 100 ms; NULL: not requested. */
    uint32_t *allowed;
    struct event close_event;
    uint64_t armed_ns; /* when the pending event is due */
};

/* Returns how much memory is kept for each connection.  Main thread. */
size_t client_idle_bytes(const struct client_config *config);

/* Prepares the deadlines and the timer.  transport is set by the caller.  Returns 0, or -1 if out
 * of memory. */
int client_idle_init(struct client_idle *idle);
void client_idle_free(struct client_idle *idle); /* also if all zero */

/* With config->keepalive: the server allows the connection to be idle for this time, in units of
 * 100 ms.  0: it takes no more queries and closes once each of its queries has an outcome, perhaps
 * now. */
void client_idle_allow(struct client_idle *idle, struct client_conn *c, uint16_t timeout);

/* A connection was opened: its server has not set a limit yet. */
void client_idle_allow_any(struct client_idle *idle, const struct client_conn *c);

/* A query of the connection has its outcome, bytes were received, or the connection became usable:
 * it is idle from now_ns on, unless it has other queries or is finishing. */
void client_idle_rest(struct client_idle *idle, struct client_conn *c, uint64_t now_ns);

/* The connection is given a query, or has ended: it is no longer idle. */
void client_idle_leave(struct client_idle *idle, const struct client_conn *c);

#endif
