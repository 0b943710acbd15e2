/* SPDX-License-Identifier: MIT
 * nights: see report/nights.h. */
#include "report/nights.h"

#include "measure/student.h"

#include <assert.h>
#include <math.h>

enum { TESTS = 2 };

static double mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static double sum_of_squares(const double *values, size_t n)
{
    const double center = mean(values, n);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (values[i] - center) * (values[i] - center);
    return sum;
}

/* `error`: the standard error of the difference. */
static struct nights_change change(double from, double to, double error, size_t df)
{
    const double difference = to - from;

    return (struct nights_change){
        .share = difference / from,
        .p = difference == 0 ? 1 : student_p(difference / error, df),
    };
}

/* Compares the mean of `recent` with that of the pinned nights, assuming equal variance. */
static struct nights_change drift(const double *pinned, const double *recent)
{
    const size_t df = NIGHTS_PINNED + NIGHTS_RECENT - 2;
    const double variance =
        (sum_of_squares(pinned, NIGHTS_PINNED) + sum_of_squares(recent, NIGHTS_RECENT)) /
        (double)df;

    return change(mean(pinned, NIGHTS_PINNED), mean(recent, NIGHTS_RECENT),
                  sqrt(variance * (1.0 / NIGHTS_PINNED + 1.0 / NIGHTS_RECENT)), df);
}

/* The least-squares slope over consecutive nights, tonight last. */
static double trend(const double *before, size_t n, double tonight)
{
    const double middle = (double)n / 2;
    const double level = (mean(before, n) * (double)n + tonight) / (double)(n + 1);
    double products = (double)n / 2 * tonight, squares = middle * middle;

    for (size_t i = 0; i < n; i++) {
        products += ((double)i - middle) * before[i];
        squares += ((double)i - middle) * ((double)i - middle);
    }
    return products / squares / level;
}

static enum comparison_finding finding(const struct nights_metric *m, struct nights_change c,
                                       double level)
{
    if (c.p >= level || fabs(c.share) <= m->least_share)
        return COMPARISON_SAME;
    return (c.share > 0) != m->less_is_worse ? COMPARISON_WORSE : COMPARISON_BETTER;
}

static void judge_drift(struct nights_metric *m, const double *before, size_t n, double tonight)
{
    double recent[NIGHTS_RECENT];

    m->has_drift = n + 1 >= NIGHTS_PINNED + NIGHTS_RECENT;
    if (!m->has_drift)
        return;
    for (size_t i = 0; i + 1 < NIGHTS_RECENT; i++)
        recent[i] = before[n + 1 - NIGHTS_RECENT + i];
    recent[NIGHTS_RECENT - 1] = tonight;
    m->drift = drift(before, recent);
}

void nights_judge(struct nights_metric *m, const double *before, size_t n, double tonight,
                  size_t n_metrics)
{
    const size_t n_sliding = n < NIGHTS_SLIDING ? n : NIGHTS_SLIDING;
    const double *sliding = before + n - n_sliding;
    const double level = NIGHTS_LEVEL / (double)(TESTS * n_metrics);
    enum comparison_finding by_drift;
    double deviation, error;

    assert(n >= NIGHTS_LEAST);
    deviation = sqrt(sum_of_squares(sliding, n_sliding) / (double)(n_sliding - 1));
    error = deviation * sqrt(1 + 1 / (double)n_sliding);
    m->tonight = tonight;
    m->before = mean(sliding, n_sliding);
    m->noise = deviation / m->before;
    m->step = change(m->before, tonight, error, n_sliding - 1);
    judge_drift(m, before, n, tonight);
    m->trend = trend(sliding, n_sliding, tonight);
    m->detectable = fmax(m->least_share, student_t(level, n_sliding - 1) * error / m->before) +
                    COMPARISON_Z_POWER * error / m->before;
    m->finding = finding(m, m->step, level);
    by_drift = m->has_drift ? finding(m, m->drift, level) : COMPARISON_SAME;
    m->is_by_drift =
        m->finding != COMPARISON_WORSE && by_drift != COMPARISON_SAME && by_drift != m->finding;
    if (m->is_by_drift)
        m->finding = by_drift;
}
