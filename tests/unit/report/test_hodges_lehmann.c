/* SPDX-License-Identifier: MIT
 * test_hodges_lehmann: against all differences, computed one by one; the interval against
 * SciPy 1.16 (stats.bootstrap, method='percentile', 20,000 resamples). */
#include "report/hodges_lehmann.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 40 };

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double median_of_differences(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double all[MOST * MOST];
    size_t n = 0;

    for (size_t i = 0; i < n_a; i++)
        for (size_t k = 0; k < n_b; k++)
            all[n++] = b[k] - a[i];
    qsort(all, n, sizeof *all, by_value);
    return (all[(n - 1) / 2] + all[n / 2]) / 2;
}

static void estimate_is_the_median_of_all_differences(void **state)
{
    struct rng rng;
    struct hodges_lehmann s;
    double a[MOST], b[MOST];

    (void)state;
    rng_seed(&rng, 3, 0);
    for (int round = 0; round < 30; round++) {
        const size_t n_a = 1 + rng_below(&rng, 12), n_b = 1 + rng_below(&rng, 12);

        for (size_t i = 0; i < n_a; i++)
            a[i] = round % 2 ? rng_uniform(&rng) * 1e9 : rng_below(&rng, 5); /* also with ties */
        for (size_t i = 0; i < n_b; i++)
            b[i] = round % 2 ? rng_uniform(&rng) * 1e9 : rng_below(&rng, 5);
        assert_int_equal(hodges_lehmann_estimate(&s, a, n_a, b, n_b, 0.99, 1), 0);
        assert_true(s.estimate == median_of_differences(a, n_a, b, n_b));
        assert_true(s.low <= s.high);
    }
}

/* Both are -0.7 on paper; as doubles they are neighbours, with none between them. */
static void differences_that_only_rounding_tells_apart_are_found(void **state)
{
    static const double a[] = {0.8, 0.9}, b[] = {0.1, 0.2, 0.3};
    struct hodges_lehmann s;

    (void)state;
    assert_true(nextafter(b[0] - a[0], 0) == b[1] - a[1]);
    assert_int_equal(hodges_lehmann_estimate(&s, a, 2, b, 3, 0.99, 1), 0);
    assert_true(s.estimate == median_of_differences(a, 2, b, 3));
}

static void interval_is_that_of_resampling(void **state)
{
    static const double a[] = {5.1, 4.9, 5.3, 5.0, 5.2, 4.8, 5.05, 4.95};
    static const double b[] = {5.6, 5.4, 5.2, 5.8, 5.5, 5.35};
    struct hodges_lehmann s, again;

    (void)state;
    assert_int_equal(hodges_lehmann_estimate(&s, a, 8, b, 6, 0.99, 1), 0);
    assert_true(fabs(s.estimate - 0.425) < 1e-9);
    assert_true(fabs(s.low - 0.2) < 0.03);
    assert_true(fabs(s.high - 0.7) < 0.03);
    assert_int_equal(hodges_lehmann_estimate(&again, a, 8, b, 6, 0.99, 1), 0);
    assert_memory_equal(&s, &again, sizeof s);
}

/* A quarter of the samples drawn from {0, 1} are {0, 0}, a quarter {1, 1}: so much of the estimates
 * is at each end, of which an interval of 60 % leaves out a fifth. */
static void interval_leaves_out_as_much_at_each_end(void **state)
{
    static const double a[] = {0}, b[] = {0, 1};
    struct hodges_lehmann s;

    (void)state;
    assert_int_equal(hodges_lehmann_estimate(&s, a, 1, b, 2, 0.6, 1), 0);
    assert_true(s.low == 0 && s.estimate == 0.5 && s.high == 1);
    assert_int_equal(hodges_lehmann_estimate(&s, a, 1, b, 2, 0.4, 1), 0);
    assert_true(s.low == 0.5 && s.high == 0.5);
}

/* In about 90 of 100 pairs of samples without a shift, the 90 % interval contains 0. */
static void interval_holds_the_truth_as_often_as_it_says(void **state)
{
    struct rng rng;
    struct hodges_lehmann s;
    double a[12], b[12];
    int n_held = 0;

    (void)state;
    rng_seed(&rng, 5, 0);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 12; i++) {
            a[i] = rng_exponential(&rng);
            b[i] = rng_exponential(&rng);
        }
        assert_int_equal(hodges_lehmann_estimate(&s, a, 12, b, 12, 0.9, 1), 0);
        n_held += s.low <= 0 && s.high >= 0;
    }
    assert_in_range(n_held, 80, 97);
}

static void medians_are_right(void **state)
{
    static const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, far[] = {1, 2, 3, 4, 1000};

    (void)state;
    assert_true(hodges_lehmann_median(odd, 3) == 5);
    assert_true(hodges_lehmann_median(even, 4) == 2.5);
    assert_true(hodges_lehmann_median(far, 5) == 3);
    assert_true(hodges_lehmann_mad(far, 5) == 1);
    assert_true(hodges_lehmann_mad(odd, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimate_is_the_median_of_all_differences),
        cmocka_unit_test(differences_that_only_rounding_tells_apart_are_found),
        cmocka_unit_test(interval_is_that_of_resampling),
        cmocka_unit_test(interval_leaves_out_as_much_at_each_end),
        cmocka_unit_test(interval_holds_the_truth_as_often_as_it_says),
        cmocka_unit_test(medians_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
