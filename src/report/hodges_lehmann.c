/* SPDX-License-Identifier: MIT
 * hodges_lehmann: see report/hodges_lehmann.h. */
#include "report/hodges_lehmann.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 1e-9

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static void sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
}

static double *sorted_copy(const double *values, size_t n)
{
    double *copy = malloc(n * sizeof *copy);

    if (copy != NULL) {
        memcpy(copy, values, n * sizeof *copy);
        sort(copy, n);
    }
    return copy;
}

static double median_of_sorted(const double *values, size_t n)
{
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double hodges_lehmann_median(const double *values, size_t n)
{
    double *sorted = sorted_copy(values, n), median;

    if (sorted == NULL)
        return NAN;
    median = median_of_sorted(sorted, n);
    free(sorted);
    return median;
}

double hodges_lehmann_mad(const double *values, size_t n)
{
    const double median = hodges_lehmann_median(values, n);
    double *distances = malloc(n * sizeof *distances), mad;

    if (distances == NULL)
        return NAN;
    for (size_t i = 0; i < n; i++)
        distances[i] = fabs(values[i] - median);
    mad = hodges_lehmann_median(distances, n);
    free(distances);
    return mad;
}

/* Number of pairs of two sorted samples whose difference b - a is at most `most`. */
static size_t pairs_up_to(double most, const double *a, size_t n_a, const double *b, size_t n_b)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < n_a; i++) {
        while (k < n_b && b[k] - a[i] <= most)
            k++;
        n += k;
    }
    return n;
}

/* The difference with `rank` (from 1) among all, to PRECISION of their range: found by bisection,
 * which takes less time and memory than computing all differences. */
static double difference(size_t rank, const double *a, size_t n_a, const double *b, size_t n_b)
{
    double low = b[0] - a[n_a - 1], high = b[n_b - 1] - a[0];
    const double close = (high - low) * PRECISION;

    if (pairs_up_to(low, a, n_a, b, n_b) >= rank)
        return low;
    while (high - low > close) { /* fewer than rank up to low, at least rank up to high */
        const double middle = low + (high - low) / 2;

        if (pairs_up_to(middle, a, n_a, b, n_b) >= rank)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double hodges_lehmann(const double *a, size_t n_a, const double *b, size_t n_b)
{
    const size_t n = n_a * n_b;
    const double upper = difference(n / 2 + 1, a, n_a, b, n_b);

    return n % 2 == 1 ? upper : (difference(n / 2, a, n_a, b, n_b) + upper) / 2;
}

static void resample(struct rng *rng, const double *from, double *into, size_t n)
{
    for (size_t i = 0; i < n; i++)
        into[i] = from[rng_below(rng, (uint32_t)n)];
    sort(into, n);
}

/* In: both samples sorted.  scratch: n_a + n_b. */
static void bootstrap(struct hodges_lehmann *s, const double *a, size_t n_a, const double *b,
                      size_t n_b, double level, uint64_t seed, double *scratch)
{
    double estimates[HODGES_LEHMANN_RESAMPLES];
    const size_t tail = (size_t)((1 - level) / 2 * HODGES_LEHMANN_RESAMPLES);
    struct rng rng;

    rng_seed(&rng, seed, 0);
    for (int i = 0; i < HODGES_LEHMANN_RESAMPLES; i++) {
        resample(&rng, a, scratch, n_a);
        resample(&rng, b, scratch + n_a, n_b);
        estimates[i] = hodges_lehmann(scratch, n_a, scratch + n_a, n_b);
    }
    sort(estimates, HODGES_LEHMANN_RESAMPLES);
    s->low = estimates[tail];
    s->high = estimates[HODGES_LEHMANN_RESAMPLES - 1 - tail];
}

int hodges_lehmann_estimate(struct hodges_lehmann *s, const double *a, size_t n_a, const double *b,
                            size_t n_b, double level, uint64_t seed)
{
    double *sorted_a = sorted_copy(a, n_a), *sorted_b = sorted_copy(b, n_b);
    double *scratch = malloc((n_a + n_b) * sizeof *scratch);
    const int status = sorted_a != NULL && sorted_b != NULL && scratch != NULL ? 0 : -1;

    if (status == 0) {
        s->estimate = hodges_lehmann(sorted_a, n_a, sorted_b, n_b);
        bootstrap(s, sorted_a, n_a, sorted_b, n_b, level, seed, scratch);
    }
    free(sorted_a);
    free(sorted_b);
    free(scratch);
    return status;
}
