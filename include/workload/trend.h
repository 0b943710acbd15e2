/* SPDX-License-Identifier: MIT
 * trend: whether the queries in flight grew during a run or trial: the least number in the second
 * quarter, and in the last.  Pure.
 *
 * A queue that grows steadily from the start is three times as long at the start of the last
 * quarter as at that of the second, and never short again.  A stall raises the mean of a quarter,
 * but not the least number of it. */
#ifndef TCPSCALER_WORKLOAD_TREND_H
#define TCPSCALER_WORKLOAD_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no samples yet. */
struct trend {
    struct trend_quarter {
        uint64_t n, least;
    } early, late;
};

/* Adds a sample: in_flight queries at elapsed_ns of a run of duration_ns. */
void trend_look(struct trend *t, uint64_t in_flight, uint64_t elapsed_ns, uint64_t duration_ns);

/* Returns false unless there were samples in both quarters. */
bool trend_least(const struct trend *t, uint64_t *early, uint64_t *late);

#endif
