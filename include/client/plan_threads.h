/* SPDX-License-Identifier: MIT
 * client_plan_threads: how many worker threads a run has, and how they wait for their next query.
 * Makes no system calls. */
#ifndef TCPSCALER_CLIENT_PLAN_THREADS_H
#define TCPSCALER_CLIENT_PLAN_THREADS_H

#include "client/opts.h"
#include "client/worker/config.h"

#include <stdint.h>

/* Sets config->n_workers: --threads, or as many as the load needs and the limit of file descriptors
 * requires.  Requires the load, the connections and own_fd_tables.  n_cpus: CPUs that this process
 * may use, >= 1; nofile: file descriptors per table. */
void client_plan_threads(struct client_config *config, const struct client_opts *o, uint32_t n_cpus,
                         uint64_t nofile);

/* Sets config->pace and waiting_share.  Requires n_workers and the target. */
void client_plan_pace(struct client_config *config, const struct client_opts *o, uint32_t n_cpus);

#endif
