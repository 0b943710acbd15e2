/* SPDX-License-Identifier: MIT
 * preflight_threads: checks whether n more threads fit into the limits of this host, this user and
 * the cgroups.  Pure. */
#ifndef TCPSCALER_HOST_PREFLIGHT_THREADS_H
#define TCPSCALER_HOST_PREFLIGHT_THREADS_H

#include "host/limits.h"
#include "host/preflight_line.h"

#include <stdint.h>

struct preflight_threads {
    uint32_t n_workers, n_helpers;
    uint32_t least_workers; /* that hold the connections */
};

/* Adds a line for each limit that there is; of kernel.threads-max and kernel.pid_max, which both
 * limit the threads of the whole host, the second only if it is the lower one. */
void preflight_threads_check(struct preflight *p, const struct host_limits *host,
                             const struct preflight_threads *ask);

/* Returns how many more threads all of these limits allow; HOST_LIMITS_UNKNOWN: any number. */
uint64_t preflight_threads_left(const struct host_limits *host);

/* Returns the name of the limit that allows the fewest; NULL if there is none. */
const char *preflight_threads_limit(const struct host_limits *host);

#endif
