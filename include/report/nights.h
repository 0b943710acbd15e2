/* SPDX-License-Identifier: MIT
 * nights: is tonight worse than the nights before?  The unit is the night, one value each: the runs
 * of one night are not independent.  Two tests, both on Student's t:
 *   step   tonight against the last NIGHTS_SLIDING nights: the prediction interval of one more
 *          value, so that noise between nights widens it;
 *   drift  the mean of the last NIGHTS_RECENT nights, tonight included, against that of the first
 *          NIGHTS_PINNED: finds slow changes, which a sliding reference follows.
 * A metric is worse if a test is significant at NIGHTS_LEVEL, divided by the number of
 * tests (Bonferroni), and the change exceeds least_share.  Pure. */
#ifndef TCPSCALER_REPORT_NIGHTS_H
#define TCPSCALER_REPORT_NIGHTS_H

#include "report/comparison.h"

#include <stdbool.h>
#include <stddef.h>

#define NIGHTS_LEVEL 0.01

enum { NIGHTS_LEAST = 7, NIGHTS_SLIDING = 14, NIGHTS_PINNED = 10, NIGHTS_RECENT = 3 };

/* A change as a share of the mean it is measured from, and its two-sided p, uncorrected. */
struct nights_change {
    double share, p;
};

/* One metric. */
struct nights_metric {
    bool less_is_worse; /* in */
    double least_share; /* in: smaller changes do not matter */
    double before;      /* the mean of the sliding reference */
    double tonight;
    bool has_drift; /* the series is long enough: NIGHTS_PINNED + NIGHTS_RECENT nights */
    struct nights_change step, drift; /* drift: undefined if !has_drift */
    /* Per night, as a share of the mean: least squares over sliding reference and tonight. */
    double trend;
    double noise;      /* standard deviation of the sliding reference, a share of its mean */
    double detectable; /* the smallest step that a single night would reveal in 4 of 5 cases */
    enum comparison_finding finding;
    bool is_by_drift; /* drift decided the finding, not step */
};

/* `before` are the reference nights, oldest first, at least NIGHTS_LEAST, their mean > 0.
 * n_metrics: how many are judged together. */
void nights_judge(struct nights_metric *m, const double *before, size_t n, double tonight,
                  size_t n_metrics);

#endif
