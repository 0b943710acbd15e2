/* SPDX-License-Identifier: MIT
 * latency: see measure/latency.h. */
#include "measure/latency.h"

#include <math.h>
#include <stddef.h>

#define PERCENTILE(...) {__VA_ARGS__},

const struct latency_percentile latency_percentiles[LATENCY_N_PERCENTILES] = {
    LATENCY_PERCENTILES(PERCENTILE)};

uint64_t latency_percentile_ns(const struct hist *h, uint32_t num, uint32_t den)
{
    return hist_percentile_is_supported(h, num, den) ? hist_percentile(h, num, den)
                                                     : LATENCY_UNKNOWN;
}

void latency_of_hist(struct latency *l, const struct hist *h, const struct batch_means *batches)
{
    *l = (struct latency){
        .count = h->count,
        .over = h->beyond,
        .clamped = h->clamped,
        .min_ns = h->min_ns,
        .max_ns = h->max_ns,
        .mean_ns = hist_mean_ns(h),
        .mean_error_90_ns = batches != NULL ? batch_means_error(batches, 90) : NAN,
        .mean_error_95_ns = batches != NULL ? batch_means_error(batches, 95) : NAN,
        .stddev_ns = hist_stddev_ns(h),
    };
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        l->percentiles_ns[i] =
            latency_percentile_ns(h, latency_percentiles[i].num, latency_percentiles[i].den);
}
