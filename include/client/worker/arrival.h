/* SPDX-License-Identifier: MIT
 * client_arrival: connections that arrive on a schedule, regardless of the ones before them: how
 * long after each was due it was opened, established, secured and answered.  One that never gets
 * that far counts as later than all that do.
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
    uint8_t reached;    /* the last step reached */
};

/* Keeps arrivals for n slots, until client_figures_free().  Returns 0, or -1 if out of memory. */
int client_arrival_init(struct client_figures *f, uint32_t n);

/* Call it after client_conn_begin().  due_ns: when the connection was due; 0: not measured. */
void client_arrival_open(struct client_conn *c, uint64_t due_ns);

/* The connection has reached this step. */
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
