/* SPDX-License-Identifier: MIT
 * client_run_result: the result of a run, current or final.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_RESULT_H
#define TCPSCALER_CLIENT_RUN_RESULT_H

#include "client/run_state.h"

/* Reads counters of the host and of the interface that leads to the target. */
void client_run_read_host(struct client_run_state *r, struct host_counters *host,
                          struct netdev_counters *net);

/* When the load ends: as requested, or by the interruption; PACER_NEVER: unknown.  Undefined before
 * it starts. */
uint64_t client_run_end_of_load_ns(const struct client_run_state *r);

/* Fills in what is known so far.  context: a struct client_run_state.  Values of connections are
 * only collected at the end, those of queries every second. */
void client_run_snapshot(void *context, struct client_result *result);

/* After the workers have ended: fills in r->result. */
void client_run_collect(struct client_run_state *r);

/* If no TCP connection is left and the server has ended some: checks whether it still accepts,
 * unless the run was interrupted. */
void client_run_try_server(struct client_run_state *r);

#endif
