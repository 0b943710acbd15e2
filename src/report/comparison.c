/* SPDX-License-Identifier: MIT
 * comparison: see report/comparison.h. */
#include "report/comparison.h"

#include "report/hodges_lehmann.h"
#include "report/mann_whitney.h"

#include <assert.h>
#include <math.h>

enum { SEED = 1 };

/* Quantile of the normal distribution for the half width of the interval at COMPARISON_LEVEL. */
#define Z_INTERVAL 2.5758293035489004

int comparison_make(struct comparison *c, const double *a, size_t n_a, const double *b, size_t n_b)
{
    const double mad = hodges_lehmann_mad(a, n_a);
    struct hodges_lehmann shift;
    double half_width;

    c->median_a = hodges_lehmann_median(a, n_a);
    c->median_b = hodges_lehmann_median(b, n_b);
    c->p = mann_whitney_p(a, n_a, b, n_b);
    if (c->p < 0 || isnan(mad) || isnan(c->median_a) || isnan(c->median_b) ||
        hodges_lehmann_estimate(&shift, a, n_a, b, n_b, 1 - COMPARISON_LEVEL, SEED) != 0)
        return -1;
    c->effect = shift.estimate / c->median_a;
    c->low = shift.low / c->median_a;
    c->high = shift.high / c->median_a;
    c->margin = fmax(c->least_share, 2 * mad / c->median_a);
    half_width = (c->high - c->low) / 2;
    c->detectable = c->margin + half_width * (1 + COMPARISON_Z_POWER / Z_INTERVAL);
    c->finding = COMPARISON_SAME;
    return 0;
}

void comparison_judge(struct comparison *metrics, size_t n)
{
    double p[COMPARISON_METRICS] = {0}, corrected[COMPARISON_METRICS];

    assert(n <= COMPARISON_METRICS);
    for (size_t i = 0; i < n; i++)
        p[i] = metrics[i].p;
    mann_whitney_holm(p, corrected, n);
    for (size_t i = 0; i < n; i++) {
        struct comparison *c = &metrics[i];

        c->p = corrected[i];
        if (c->p >= COMPARISON_LEVEL || (c->low <= c->margin && c->high >= -c->margin))
            continue;
        c->finding =
            (c->low > c->margin) != c->less_is_worse ? COMPARISON_WORSE : COMPARISON_BETTER;
    }
}

bool comparison_is_possible(size_t n_a, size_t n_b, size_t n_metrics)
{
    return mann_whitney_least_p(n_a, n_b) * (double)n_metrics < COMPARISON_LEVEL;
}
