/* SPDX-License-Identifier: MIT
 * client_sources: from which source addresses and ports a run connects: those of --source and
 * --sport, less those that cannot be used.  Main thread. */
#ifndef TCPSCALER_CLIENT_SOURCES_H
#define TCPSCALER_CLIENT_SOURCES_H

#include "client_plan.h"

/* Makes plan->config.plan of the options, and counts the ports left out of it.  Returns 0, or -1
 * after one line on stderr. */
int client_sources_read(struct client_plan *plan, const struct client_opts *o,
                        const struct hostfacts *host);

/* The target is known: takes its port out where a source has its address, and counts the tuples.
 * Returns 0, or -1 after one line on stderr. */
int client_sources_fit_target(struct client_plan *plan, const struct hostfacts *host);

#endif
