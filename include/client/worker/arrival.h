/* SPDX-License-Identifier: MIT
 * client_arrival: connections that arrive on a schedule, whatever becomes of those before them: how
 * long after each was due it was opened, established, secured and answered.  One that does not get
 * as far counts as later than every other.
 *
 * Only kept with --connect-arrival and --find connect-rate; without, these functions do nothing.
 * Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_ARRIVAL_H
#define TCPSCALER_CLIENT_WORKER_ARRIVAL_H

#include "client/worker/transport.h"

#include <stdint.h>

/* Of a slot's current connection. */
struct client_arrival {
    uint64_t due_ns;    /* 0: not measured, or ended */
    uint64_t opened_ns; /* socket call */
    uint8_t reached;    /* what it has reached so far */
};

/* Keeps arrivals for n slots, until client_figures_free().  Returns 0, or -1 if out of memory. */
int client_arrival_init(struct client_figures *f, uint32_t n);

/* client_conn_begin() was called for the connection that was due then.  due_ns 0: not measured. */
void client_arrival_open(struct client_conn *c, uint64_t due_ns);

/* How far it has got. */
void client_arrival_connected(struct client_conn *c, uint64_t now_ns);
void client_arrival_secured(struct client_conn *c, uint64_t now_ns);
void client_arrival_answered(struct client_conn *c);

/* The connection ends. */
void client_arrival_ended(struct client_conn *c);

/* A measured arrival was due and could not be opened. */
void client_arrival_missed(struct client_transport *t);

/* Returns how late the connection was opened. */
uint64_t client_arrival_lag_ns(const struct client_conn *c);

#endif
