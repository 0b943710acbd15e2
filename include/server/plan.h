/* SPDX-License-Identifier: MIT
 * server_plan: turns the command line into the configuration of the workers, and checks whether it
 * fits on this host. */
#ifndef TCPSCALER_SERVER_PLAN_H
#define TCPSCALER_SERVER_PLAN_H

#include "host/limits.h"
#include "host/preflight.h"
#include "host/privileges.h"
#include "server/config.h"
#include "server/opts.h"

struct server_plan {
    struct server_config config;
    struct privileges_user user; /* the user of --user */
    struct host_limits host;
    uint32_t n_workers;    /* at the start ... */
    uint32_t most_workers; /* ... and as fd tables fill up */
    uint32_t n_listeners;
    uint64_t room; /* connections for which there are file descriptors and memory */
    struct preflight preflight;
};

/* Reads limits of this host, certificates and users, raises the fd limit; opens nothing.  Returns
 * 0; or -1 after one line on stderr if an option cannot be satisfied.  plan->preflight tells
 * whether everything fits.  Main thread. */
int server_plan_make(struct server_plan *plan, const struct server_opts *opts);

/* Creates the counters of connections per source, if limited.  Returns 0; or -1 after one line on
 * stderr. */
int server_plan_limit_sources(struct server_plan *plan, const struct server_opts *opts);

void server_plan_free(struct server_plan *plan);

#endif
