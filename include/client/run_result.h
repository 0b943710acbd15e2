/* SPDX-License-Identifier: MIT
 * client_run_result: the result of a run under way, and of one that has ended.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_RESULT_H
#define TCPSCALER_CLIENT_RUN_RESULT_H

#include "client/run_state.h"

/* Counters of the host and of the interface that leads to the target, now. */
void client_run_read_host(struct client_run_state *r, struct host_counters *host,
                          struct netdev_counters *net);

/* What is known so far; context: the state.  Values of connections are collected at the end alone,
 * those of queries every other second. */
void client_run_snapshot(void *context, struct client_result *result);

/* The workers have ended: fills r->result. */
void client_run_collect(struct client_run_state *r);

/* All connections are lost: is the server, too? */
void client_run_try_server(struct client_run_state *r);

#endif
