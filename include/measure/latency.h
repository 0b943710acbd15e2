/* SPDX-License-Identifier: MIT
 * latency: the statistics of one metric, as in the summary and the JSON result.  Pure. */
#ifndef TCPSCALER_MEASURE_LATENCY_H
#define TCPSCALER_MEASURE_LATENCY_H

#include "measure/batch_means.h"
#include "measure/hist.h"

#include <stdbool.h>

/* key in the JSON result, name, whether the summary's table shows it, numerator, denominator. */
#define LATENCY_PERCENTILES(X)                                                                     \
    X("p50", "p50", true, 1, 2)                                                                    \
    X("p90", "p90", true, 9, 10)                                                                   \
    X("p95", "p95", false, 19, 20)                                                                 \
    X("p99", "p99", true, 99, 100)                                                                 \
    X("p999", "p99.9", true, 999, 1000)                                                            \
    X("p9999", "p99.99", true, 9999, 10000)

struct latency_percentile {
    const char *key, *name;
    bool in_table;
    uint32_t num, den;
};

#define LATENCY_ONE(key, name, in_table, num, den) 1,
enum { LATENCY_N_PERCENTILES = sizeof(char[]){LATENCY_PERCENTILES(LATENCY_ONE)} };

extern const struct latency_percentile latency_percentiles[LATENCY_N_PERCENTILES];

/* A percentile that is unknown or based on too few samples.  One among the unanswered is
 * HIST_BEYOND. */
#define LATENCY_UNKNOWN (UINT64_MAX - 1)

/* Used instead of a timeout: a sample without a value never gets one. */
#define LATENCY_NEVER UINT64_MAX

struct latency {
    uint64_t count, over, clamped; /* over: samples slower than every value */
    /* undefined if count is 0 */
    uint64_t min_ns, max_ns;
    double mean_ns, stddev_ns;
    double mean_error_90_ns, mean_error_95_ns; /* batch_means_error(); NAN: unknown */
    uint64_t percentiles_ns[LATENCY_N_PERCENTILES];
};

/* hist_percentile(), or LATENCY_UNKNOWN for too few samples. */
uint64_t latency_percentile_ns(const struct hist *h, uint32_t num, uint32_t den);

/* batches: of the same values; NULL: unknown. */
void latency_of_hist(struct latency *l, const struct hist *h, const struct batch_means *batches);

#endif
