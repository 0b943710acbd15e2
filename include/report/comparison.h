/* SPDX-License-Identifier: MIT
 * comparison: is a group of runs worse than another?  The unit is the run, never the query: queries
 * of one run have its luck in common.  A metric is worse when it is so beyond doubt (mann_whitney,
 * at COMPARISON_LEVEL over all metrics) and by enough (shift: the whole interval lies beyond the
 * margin).  Pure. */
#ifndef TCPSCALER_REPORT_COMPARISON_H
#define TCPSCALER_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#define COMPARISON_LEVEL   0.01
#define COMPARISON_METRICS 16

enum comparison_finding { COMPARISON_SAME, COMPARISON_WORSE, COMPARISON_BETTER };

/* One metric.  Effects are shares of the median of group a: 0.05 is 5 % more. */
struct comparison {
    bool less_is_worse; /* in */
    double least_share; /* in: smaller effects do not matter */
    double median_a, median_b;
    double p; /* after comparison_judge() that of all metrics together */
    double effect, low, high;
    double margin;     /* least_share, or twice the median deviation of a, when that is more */
    double detectable; /* the effect that would be found in 4 of 5 such comparisons */
    enum comparison_finding finding;
};

/* Every value is one run's, finite; median of a > 0.  Returns 0, or -1 without memory. */
int comparison_make(struct comparison *c, const double *a, size_t n_a, const double *b, size_t n_b);

/* All metrics of one comparison together, at most COMPARISON_METRICS: the corrected p, and the
 * findings. */
void comparison_judge(struct comparison *metrics, size_t n);

/* Whether groups of this size could show any effect at all in one of n metrics. */
bool comparison_is_possible(size_t n_a, size_t n_b, size_t n_metrics);

#endif
