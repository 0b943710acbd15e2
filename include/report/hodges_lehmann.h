/* SPDX-License-Identifier: MIT
 * hodges_lehmann: by how much one sample exceeds another: the Hodges-Lehmann estimate ("Estimates
 * of Location Based on Rank Tests", 1963), the median of all differences between a value of one and
 * a value of the other, with a confidence interval by resampling (Efron's percentile bootstrap,
 * 1979).  Pure. */
#ifndef TCPSCALER_REPORT_HODGES_LEHMANN_H
#define TCPSCALER_REPORT_HODGES_LEHMANN_H

#include <stddef.h>
#include <stdint.h>

#define HODGES_LEHMANN_RESAMPLES 2000

struct hodges_lehmann {
    double estimate;
    double low, high; /* of the interval */
};

/* b - a.  `level` is that of the interval, 0.99 for 99 %; the same seed gives the same interval.
 * Samples are finite and not empty.  Returns 0, or -1 if out of memory. */
int hodges_lehmann_estimate(struct hodges_lehmann *s, const double *a, size_t n_a, const double *b,
                            size_t n_b, double level, uint64_t seed);

/* The median of values, and the median of their distances from it.  NAN: out of memory. */
double hodges_lehmann_median(const double *values, size_t n);
double hodges_lehmann_mad(const double *values, size_t n);

#endif
