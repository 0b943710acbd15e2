/* SPDX-License-Identifier: MIT
 * server_plan: from the command line to what the workers are to do, and whether that fits here. */
#ifndef TCPSCALER_SERVER_PLAN_H
#define TCPSCALER_SERVER_PLAN_H

#include "host/limits.h"
#include "host/preflight.h"
#include "host/privileges.h"
#include "server/config.h"
#include "server/opts.h"

struct server_plan {
    struct server_config config;
    struct privileges_user user; /* who it will run as; with --user */
    struct host_limits host;
    uint32_t n_workers;    /* at the start ... */
    uint32_t most_workers; /* ... and as fd tables fill up */
    uint32_t n_listeners;
    uint64_t room; /* connections for which there are file descriptors and memory */
    struct preflight preflight;
};

/* Reads limits of this machine, certificates and users, raises the fd limit; opens nothing.
 * Returns 0; or -1 when an option cannot be met at all, after one line on stderr.  Whether all of
 * it fits is in plan->preflight.  Main thread. */
int server_plan_make(struct server_plan *plan, const struct server_opts *opts);

/* Makes what counts the connections of each source, when that is limited.  Returns 0; or -1 after
 * one line on stderr. */
int server_plan_limit_sources(struct server_plan *plan, const struct server_opts *opts);

void server_plan_free(struct server_plan *plan);

#endif
