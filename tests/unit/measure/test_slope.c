/* SPDX-License-Identifier: MIT
 * test_slope: lines of known slope, with and without noise. */
#include "measure/slope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The residuals of Anscombe's first data set, whose line is y = 3 + 0.5 x with a standard error of
 * the slope of 0.118: F. J. Anscombe, "Graphs in Statistical Analysis", 1973. */
static void a_published_regression_is_met(void **state)
{
    static const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    static const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    struct slope_points points = {0};
    struct slope s;

    (void)state;
    for (int i = 0; i < 11; i++)
        slope_add(&points, x[i], y[i]);
    s = slope_of(&points, 0);
    assert_int_equal(s.n, 11);
    assert_true(fabs(s.per_x - 0.500) < 0.0005);
    /* t of 9 degrees of freedom is 2.262 */
    assert_true(fabs((s.high - s.low) / 2 - 2.262 * 0.118) < 0.001);
}

static void large_offsets_lose_no_precision(void **state)
{
    struct slope_points points = {0};
    struct slope s;

    (void)state;
    for (int i = 0; i < 100; i++)
        slope_add(&points, 1e9 + i, 1e12 + 4321.0 * i);
    s = slope_of(&points, 0);
    assert_true(fabs(s.per_x - 4321) < 1e-3);
    assert_true(s.low <= s.per_x && s.per_x <= s.high && s.high - s.low < 1e-3);
}

static uint64_t seed = 88172645463325252u;

/* Between 0 and 1. */
static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void the_interval_has_the_true_slope_as_often_as_it_says(void **state)
{
    enum { TRIALS = 2000 };
    int n_true = 0, n_wrong = 0;

    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        struct slope_points points = {0};
        struct slope s;

        for (int i = 0; i < 10; i++)
            slope_add(&points, 1000.0 * i, 5e6 + 2500.0 * 1000 * i + 1e5 * gaussian());
        s = slope_of(&points, 0);
        n_true += s.low <= 2500 && 2500 <= s.high;
        n_wrong += s.low <= 2600 && 2600 <= s.high; /* the control: a slope that is 4 % off */
    }
    assert_true(n_true > TRIALS * 0.935 && n_true < TRIALS * 0.965);
    assert_true(n_wrong < TRIALS / 100);
}

static void too_few_points_have_no_slope_or_no_interval(void **state)
{
    struct slope_points points = {0};

    (void)state;
    assert_int_equal(slope_of(&points, 0).n, 0);
    slope_add(&points, 1e6, 1);
    assert_int_equal(slope_of(&points, 0).n, 0);
    slope_add(&points, 1e6, 2);
    assert_int_equal(slope_of(&points, 0).n, 0); /* at one x */
    assert_true(isnan(slope_of(&points, 0).per_x));
    points = (struct slope_points){0};
    slope_add(&points, 0, 10);
    slope_add(&points, 5, 20);
    assert_int_equal(slope_of(&points, 0).n, 2);
    assert_true(slope_of(&points, 0).per_x == 2);
    assert_true(isnan(slope_of(&points, 0).low) && isnan(slope_of(&points, 0).high));
}

/* Memory is measured in pages: three samples, two of which agree, prove nothing. */
static void an_interval_is_not_narrower_than_the_steps_of_y_allow(void **state)
{
    struct slope_points points = {0};
    struct slope s;

    (void)state;
    slope_add(&points, 0, 0);
    slope_add(&points, 10, 40960);
    slope_add(&points, 10, 40960);
    s = slope_of(&points, 0); /* the control */
    assert_true(s.high - s.low < 1e-6);
    s = slope_of(&points, 4096);
    assert_true(fabs(s.per_x - 4096) < 1e-9);
    /* t of 1 degree of freedom is 12.706, the sum of squares of x is 66.7 */
    assert_true(fabs((s.high - s.low) / 2 - 12.706 * 4096 / sqrt(12) / sqrt(200.0 / 3)) < 1);
    slope_add(&points, 5, 30960); /* 10,480 off the line: more than the steps */
    assert_true(slope_of(&points, 4096).high == slope_of(&points, 0).high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_published_regression_is_met),
        cmocka_unit_test(large_offsets_lose_no_precision),
        cmocka_unit_test(the_interval_has_the_true_slope_as_often_as_it_says),
        cmocka_unit_test(too_few_points_have_no_slope_or_no_interval),
        cmocka_unit_test(an_interval_is_not_narrower_than_the_steps_of_y_allow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
