/* SPDX-License-Identifier: MIT
 * comparison: is a group of runs worse than another?  The unit is the run, never the query, because
 * the queries of a run are not independent.  A metric is worse if the difference is significant
 * (mann_whitney, at COMPARISON_LEVEL over all metrics) and large enough (hodges_lehmann: the whole
 * interval lies outside the margin).  Pure. */
#ifndef TCPSCALER_REPORT_COMPARISON_H
#define TCPSCALER_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#define COMPARISON_LEVEL   0.01
#define COMPARISON_METRICS 16

/* Quantile of the normal distribution for a power of 4 in 5. */
#define COMPARISON_Z_POWER 0.8416212335729143

enum comparison_finding { COMPARISON_SAME, COMPARISON_WORSE, COMPARISON_BETTER };

/* One metric.  Effects are shares of the median of group a: 0.05 is 5 % more. */
struct comparison {
    bool less_is_worse; /* in */
    double least_share; /* in: smaller effects do not matter */
    double median_a, median_b;
    double p; /* after comparison_judge(): corrected for all metrics */
    double effect, low, high;
    double margin;     /* least_share, or twice the median deviation of a if larger */
    double detectable; /* the effect that 4 of 5 such comparisons would find */
    enum comparison_finding finding;
};

/* Each value is one run's, finite; median of a > 0.  Returns 0, or -1 if out of memory. */
int comparison_make(struct comparison *c, const double *a, size_t n_a, const double *b, size_t n_b);

/* Judges all metrics of one comparison together, at most COMPARISON_METRICS: sets the corrected p
 * and the findings. */
void comparison_judge(struct comparison *metrics, size_t n);

/* Whether groups of this size, without equal values, can show any effect in one of n metrics. */
bool comparison_is_possible(size_t n_a, size_t n_b, size_t n_metrics);

#endif
