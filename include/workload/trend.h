/* SPDX-License-Identifier: MIT
 * trend: whether the queries in flight grew during a run: compares their mean over the second
 * quarter with that over the last.  Pure. */
#ifndef TCPSCALER_WORKLOAD_TREND_H
#define TCPSCALER_WORKLOAD_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no samples yet. */
struct trend {
    uint64_t early_sum, n_early, late_sum, n_late;
};

/* Adds a sample: in_flight queries at elapsed_ns of a run of duration_ns. */
void trend_look(struct trend *g, uint64_t in_flight, uint64_t elapsed_ns, uint64_t duration_ns);

/* The means; false unless there were samples in both quarters. */
bool trend_means(const struct trend *g, uint64_t *early, uint64_t *late);

#endif
