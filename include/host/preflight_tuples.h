/* SPDX-License-Identifier: MIT
 * preflight_tuples: checks whether there are enough source (address, port) pairs for the
 * connections of tcpclient, and for those that replace them.  Pure. */
#ifndef TCPSCALER_HOST_PREFLIGHT_TUPLES_H
#define TCPSCALER_HOST_PREFLIGHT_TUPLES_H

#include "host/limits.h"
#include "host/preflight_client.h"
#include "host/preflight_line.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether tuples in TIME_WAIT can be reused at once. */
bool preflight_tuples_reuse(const struct host_limits *host);

/* Returns the maximum sustainable rate of connections that this host opens and closes with FIN:
 * each leaves its source tuple in TIME_WAIT.  HOST_LIMITS_UNKNOWN: not limited by TIME_WAIT. */
uint64_t preflight_tuples_churn_per_s(const struct host_limits *host,
                                      const struct preflight_client *ask);

/* Adds the lines. */
void preflight_tuples_check(struct preflight *p, const struct host_limits *host,
                            const struct preflight_client *ask);

#endif
