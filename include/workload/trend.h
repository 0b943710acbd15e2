/* SPDX-License-Identifier: MIT
 * trend: whether the queries in flight grew during a run or trial: compares the second quarter with
 * the last.  Pure. */
#ifndef TCPSCALER_WORKLOAD_TREND_H
#define TCPSCALER_WORKLOAD_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no samples yet. */
struct trend {
    struct trend_quarter {
        uint64_t sum, n, least;
    } early, late;
};

/* Adds a sample: in_flight queries at elapsed_ns of a run of duration_ns. */
void trend_look(struct trend *g, uint64_t in_flight, uint64_t elapsed_ns, uint64_t duration_ns);

/* The means; false unless there were samples in both quarters. */
bool trend_means(const struct trend *g, uint64_t *early, uint64_t *late);

/* Likewise the least of each quarter, for short trials: a stall raises a mean, too, but not for the
 * whole of a quarter.  A queue that grows steadily from the start of the first quarter is at least
 * twice as long in the last as in the second. */
bool trend_least(const struct trend *g, uint64_t *early, uint64_t *late);

#endif
