/* SPDX-License-Identifier: MIT
 * batch_means: the confidence interval of the mean of autocorrelated values.
 *
 * Successive response times share queues, caches and stalls: n values carry less information than n
 * independent ones, and s / sqrt(n) is far too small.  The run is cut into batches by time, long
 * enough to be nearly independent, and the interval is computed from the batches' means with
 * Student's t (Law, Simulation Modeling and Analysis, 5th ed. 2015, section 9.5.3).  10 to 30
 * batches are enough (Schmeiser, Batch size effects in the analysis of simulation output,
 * Operations Research 30, 1982), so at most 32 are kept: when they are full, neighbours are merged
 * and each lasts twice as long.  Batches differ in their number of values, so the mean is a ratio,
 * sum of sums to sum of counts, with the ratio's variance (Cochran, Sampling Techniques, 3rd ed.
 * 1977, section 6.3).  Pure. */
#ifndef TCPSCALER_MEASURE_BATCH_MEANS_H
#define TCPSCALER_MEASURE_BATCH_MEANS_H

#include <stdint.h>

#define BATCH_MEANS_LEAST 10u /* fewer give no useful interval */
#define BATCH_MEANS_MOST  32u /* even */

/* Zero: empty. */
struct batch_means {
    struct batch {
        uint64_t count;
        double sum;
    } batches[BATCH_MEANS_MOST];
    uint32_t n;
    uint32_t intervals_each; /* intervals in a full batch; a power of two */
    uint32_t intervals_last; /* intervals in the last batch */
};

/* Adds the next interval, with `count` values of this mean, in any unit.  All intervals have about
 * the same length, say 1 s.  One without values is ignored. */
void batch_means_add(struct batch_means *b, uint64_t count, double mean);

/* Half the width of the confidence interval of the mean of all values, in their unit; percent is
 * below 100.  NAN if there are fewer than BATCH_MEANS_LEAST batches. */
double batch_means_error(const struct batch_means *b, unsigned percent);

#endif
