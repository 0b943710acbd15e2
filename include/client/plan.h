/* SPDX-License-Identifier: MIT
 * client_plan: turns the command line into the configuration of the workers and checks whether it
 * fits this host. */
#ifndef TCPSCALER_CLIENT_PLAN_H
#define TCPSCALER_CLIENT_PLAN_H

#include "client/opts.h"
#include "client/plan_classes.h"
#include "client/sources.h"
#include "client/worker/config.h"
#include "host/preflight.h"
#include "net/sock.h"

struct client_plan {
    struct client_config config;           /* except rows and the fields that client_run() sets */
    double rate_qps;                       /* requested, over the whole measurement; 0: none */
    struct query sizes[CLIENT_SWEEP_MOST]; /* of --sweep size */
    struct client_plan_classes classes;
    char target[SOCK_TEXT_BYTES];
    struct client_sources sources;
    struct preflight preflight;
    /* Sustainable rate of replacement connections; HOST_LIMITS_UNKNOWN: unlimited. */
    uint64_t churn_most_per_s;
};

/* Reads addresses and limits of this host, raises the fd limit, resolves the host.  Opens nothing.
 * Returns 0; or -1 after one line on stderr if an option cannot be satisfied.  plan->preflight says
 * whether everything fits. */
int client_plan_make(struct client_plan *plan, const struct client_opts *opts);

/* Rows that each worker can be ahead of their writer. */
uint32_t client_plan_ring_rows(uint32_t n_workers);

void client_plan_free(struct client_plan *plan);

#endif
