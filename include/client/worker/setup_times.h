/* SPDX-License-Identifier: MIT
 * client_setup_times: how long after it was due each connection was opened, connected, secured and
 * answered: of connections that are opened on a schedule, whether or not earlier ones are usable.
 * A connection that never reaches a step counts as slower than every one that does.
 *
 * Only kept with --connect-arrival and --find connect-rate; without, these functions do nothing.
 * Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_SETUP_TIMES_H
#define TCPSCALER_CLIENT_WORKER_SETUP_TIMES_H

#include "client/worker/transport.h"

#include <stdint.h>

/* Times of a slot's current connection. */
struct client_setup_times {
    uint64_t due_ns;    /* 0: not measured, or ended */
    uint64_t opened_ns; /* socket call */
    uint8_t reached;    /* the last step reached */
};

/* Keeps the times of n slots, until client_figures_free().  Returns 0, or -1 if out of memory. */
int client_setup_times_init(struct client_figures *f, uint32_t n);

/* Call it after client_conn_begin().  due_ns: when the connection was due; 0: not measured. */
void client_setup_times_opened(struct client_conn *c, uint64_t due_ns);

/* The connection has reached this step.  The answer is the first one. */
void client_setup_times_connected(struct client_conn *c, uint64_t now_ns);
void client_setup_times_secured(struct client_conn *c, uint64_t now_ns);
void client_setup_times_answered(struct client_conn *c);

/* The connection ends. */
void client_setup_times_ended(struct client_conn *c);

/* A measured connection was due, but no slot was free for it. */
void client_setup_times_missed(struct client_transport *t);

/* Returns how long after it was due the connection was opened; 0 if it is not measured. */
uint64_t client_setup_times_open_lag_ns(const struct client_conn *c);

#endif
