/* SPDX-License-Identifier: MIT
 * server_plan: turns the command line into the configuration of the workers and checks whether it
 * fits this host. */
#ifndef TCPSCALER_SERVER_PLAN_H
#define TCPSCALER_SERVER_PLAN_H

#include "host/limits.h"
#include "host/preflight.h"
#include "host/privileges.h"
#include "server/config.h"
#include "server/opts.h"

struct server_plan {
    struct server_config config;
    struct privileges_user user; /* user of --user */
    struct host_limits host;
    uint32_t n_workers;    /* initially ... */
    uint32_t most_workers; /* ... and when fd tables fill up */
    uint32_t n_listeners;
    uint64_t room; /* number of connections that descriptors and memory allow */
    struct preflight preflight;
};

/* Reads limits of this host, certificates and users, and raises the fd limit.  Opens nothing.
 * Returns 0; or -1 after one line on stderr if an option cannot be satisfied.  plan->preflight says
 * whether everything fits.  Main thread. */
int server_plan_make(struct server_plan *plan, const struct server_opts *opts);

/* Creates the counters of connections per source, if limited.  Returns 0; or -1 after one line on
 * stderr. */
int server_plan_limit_sources(struct server_plan *plan, const struct server_opts *opts);

void server_plan_free(struct server_plan *plan);

#endif
