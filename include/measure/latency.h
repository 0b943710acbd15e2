/* SPDX-License-Identifier: MIT
 * latency: the statistics of one metric, as in the summary and the JSON result.  Pure. */
#ifndef TCPSCALER_MEASURE_LATENCY_H
#define TCPSCALER_MEASURE_LATENCY_H

#include "measure/batch_means.h"
#include "measure/hist.h"

#include <stdbool.h>

struct latency_percentile {
    const char *key;   /* in the JSON result */
    const char *title; /* in the summary's table; NULL: not shown */
    uint32_t num, den;
};

#define LATENCY_N_PERCENTILES 6

extern const struct latency_percentile latency_percentiles[LATENCY_N_PERCENTILES];

/* A percentile that is unknown or based on too few samples.  One among the unanswered is
 * HIST_BEYOND. */
#define LATENCY_UNKNOWN (UINT64_MAX - 1)

/* In place of a timeout: a sample without a value never gets one, however long one waits. */
#define LATENCY_NEVER UINT64_MAX

struct latency {
    uint64_t count, over, clamped; /* over: samples slower than every value */
    /* undefined if count is 0 */
    uint64_t min_ns, max_ns;
    double mean_ns, stddev_ns;
    double mean_error_90_ns, mean_error_95_ns; /* batch_means_error(); NAN: unknown */
    uint64_t percentiles_ns[LATENCY_N_PERCENTILES];
};

/* batches: of the same values; NULL: unknown. */
void latency_of_hist(struct latency *l, const struct hist *h, const struct batch_means *batches);

#endif
