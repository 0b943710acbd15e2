/* SPDX-License-Identifier: MIT
 * client_find_growth: whether a trial of a capacity search has more and more queries under way
 * (client/find.h, workload/trend.h).  Main thread only. */
#ifndef TCPSCALER_CLIENT_FIND_GROWTH_H
#define TCPSCALER_CLIENT_FIND_GROWTH_H

#include "client/find_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Forgets all samples.  Call it at the start of a trial, and for one that ends early, because the
 * quarters are those of the whole trial. */
void client_find_growth_reset(struct client_find *f);

/* Samples the queries under way.  Call it repeatedly, from the start of the measurement to its
 * end. */
void client_find_growth_sample(struct client_find *f, uint64_t now_ns);

/* Samples the timeouts.  Call it before each client_find_growth_sample(), and until the last query
 * has its outcome.  timeout_ns: how long a lost query is under way. */
void client_find_growth_sample_timeouts(struct client_find *f, uint64_t timeout_ns,
                                        uint64_t now_ns);

/* Whether the number of queries under way grew, apart from those that were lost or took long
 * without any queue. */
bool client_find_growth_was_seen(const struct client_find *f, uint64_t timeout_ns);

#endif
