/* SPDX-License-Identifier: MIT
 * preflight_memory: the part of preflight that compares the memory that connections need
 * (host/memory_model.h) with what this host, the cgroup and the address space leave.  A program
 * keeps a reserve of the first two, from which it opens no connection (host/memory_watch.h), so the
 * reserve is not available.  Pure. */
#ifndef TCPSCALER_HOST_PREFLIGHT_MEMORY_H
#define TCPSCALER_HOST_PREFLIGHT_MEMORY_H

#include "host/limits.h"
#include "host/memory_model.h"
#include "host/memory_watch.h"
#include "host/preflight_line.h"

#include <stdbool.h>

/* Adds a line for the host and, if one limits memory, for the cgroup. */
void preflight_memory_check(struct preflight *p, const struct host_limits *host,
                            const struct memory_ends *ends, enum memory_watch_reserve part);

/* Adds a line if RLIMIT_AS or RLIMIT_DATA limits it.  `own`: this program only.  Its helper threads
 * take little more than their stacks. */
void preflight_memory_check_address_space(struct preflight *p, const struct host_limits *host,
                                          const struct memory_ends *own, uint32_t n_helper_threads);

/* Whether none of these lines would say stop.  `own`: this program, the only one here. */
bool preflight_memory_suffices(const struct host_limits *host, const struct memory_ends *own,
                               enum memory_watch_reserve part);

#endif
