/* SPDX-License-Identifier: MIT
 * mann_whitney: see report/mann_whitney.h. */
#include "report/mann_whitney.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ranked {
    double value;
    bool of_a;
};

static int by_value(const void *x, const void *y)
{
    const double a = ((const struct ranked *)x)->value, b = ((const struct ranked *)y)->value;

    return (a > b) - (a < b);
}

/* Number of equal values from `begin` on. */
static size_t tied(const struct ranked *all, size_t begin, size_t n)
{
    size_t end = begin + 1;

    while (end < n && by_value(&all[begin], &all[end]) == 0)
        end++;
    return end - begin;
}

static double p_of(double u, double n_a, double n_b, double ties)
{
    const double n = n_a + n_b, mean = n_a * n_b / 2;
    const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    const double distance = fabs(u - mean) - 0.5;

    return variance <= 0 || distance <= 0 ? 1 : erfc(distance / sqrt(2 * variance));
}

double mann_whitney_p(const double *a, size_t n_a, const double *b, size_t n_b)
{
    const size_t n = n_a + n_b;
    double rank_sum = 0, ties = 0;
    struct ranked *all;

    if (n_a == 0 || n_b == 0)
        return 1;
    all = malloc(n * sizeof *all);
    if (all == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct ranked){i < n_a ? a[i] : b[i - n_a], i < n_a};
    qsort(all, n, sizeof *all, by_value);
    for (size_t i = 0, n_tied; i < n; i += n_tied) {
        n_tied = tied(all, i, n);
        ties += pow((double)n_tied, 3) - (double)n_tied;
        for (size_t k = i; k < i + n_tied; k++)
            if (all[k].of_a)
                rank_sum += (double)i + (double)(n_tied + 1) / 2;
    }
    free(all);
    return p_of(rank_sum - (double)n_a * (double)(n_a + 1) / 2, (double)n_a, (double)n_b, ties);
}

double mann_whitney_least_p(size_t n_a, size_t n_b)
{
    return n_a == 0 || n_b == 0 ? 1 : p_of(0, (double)n_a, (double)n_b, 0);
}

/* Returns the number of values that are less, or equal and earlier. */
static size_t position_of(const double *p, size_t n, size_t i)
{
    size_t position = 0;

    for (size_t k = 0; k < n; k++)
        position += p[k] < p[i] || (k < i && p[k] <= p[i]);
    return position;
}

void mann_whitney_holm(const double *p, double *corrected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        corrected[i] = 0;
        for (size_t k = 0; k < n; k++) { /* the largest one up to its own rank */
            const size_t position = position_of(p, n, k);

            if (position <= position_of(p, n, i))
                corrected[i] = fmax(corrected[i], fmin(1, p[k] * (double)(n - position)));
        }
    }
}
