/* SPDX-License-Identifier: MIT
 * client_plan: from the command line to what the workers are to do, and whether that fits here. */
#ifndef TCPSCALER_CLIENT_PLAN_H
#define TCPSCALER_CLIENT_PLAN_H

#include "client/opts.h"
#include "client/sources.h"
#include "client/worker/config.h"
#include "host/preflight.h"
#include "net/sock.h"

struct client_plan {
    struct client_config config; /* but for samples and what client_run() sets */
    double rate_qps;             /* asked, over the whole measurement; 0: none */
    char target[SOCK_TEXT_BYTES];
    struct client_sources sources;
    struct preflight preflight;
    uint64_t
        churn_most_per_s; /* connections made again for ever; HOST_LIMITS_UNKNOWN: any number */
};

/* Reads addresses and limits of this machine, raises the fd limit, resolves the host; opens
 * nothing. Returns 0; or -1 when an option cannot be met at all, after one line on stderr.  Whether
 * all of it fits is in plan->preflight. */
int client_plan_make(struct client_plan *plan, const struct client_opts *opts);

void client_plan_free(struct client_plan *plan);

#endif
