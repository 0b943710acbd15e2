/* SPDX-License-Identifier: MIT
 * trend: whether the queries in flight grew during a run or trial: the least number in the second
 * quarter, and in the last.  Pure.
 *
 * A queue that grows steadily from the start is three times as long at the start of the last
 * quarter as at the start of the second, and never shrinks.  A stall raises the mean of a quarter,
 * but not the least number of it.
 *
 * A lost query is in flight until its timeout without being in any queue, so steady losses make the
 * number grow until the first ones time out.  The number of lost queries in the last quarter is
 * estimated from how many of those in flight at the minimum of the second quarter timed out.  The
 * timeouts of the last quarter itself cannot be used: a growing queue causes more and more of them.
 */
#ifndef TCPSCALER_WORKLOAD_TREND_H
#define TCPSCALER_WORKLOAD_TREND_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no samples yet. */
struct trend {
    struct trend_quarter {
        uint64_t n, least;
        uint64_t at_ns; /* of the least */
    } early, late;
    uint64_t n_timed_out, n_timed_out_before; /* so far; before the minimum of the second quarter */
    uint64_t n_lost;                          /* of the queries in flight then */
};

/* Adds a sample: in_flight queries at elapsed_ns of a run of duration_ns. */
void trend_add_sample(struct trend *t, uint64_t in_flight, uint64_t elapsed_ns,
                      uint64_t duration_ns);

/* Tells the trend how many queries have timed out so far.  Call it before each sample, and until
 * the last query of the run has its outcome.  timeout_ns: how long a lost query is in flight. */
void trend_timed_out(struct trend *t, uint64_t n, uint64_t elapsed_ns, uint64_t timeout_ns);

/* Returns false unless there were samples in both quarters. */
bool trend_least(const struct trend *t, uint64_t *early, uint64_t *late);

/* Returns the lowest numbers, without lost queries, if there were samples in both quarters. */
void trend_without_losses(const struct trend *t, uint64_t timeout_ns, uint64_t *early,
                          uint64_t *late);

#endif
