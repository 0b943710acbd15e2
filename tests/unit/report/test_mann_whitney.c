/* SPDX-License-Identifier: MIT
 * test_mann_whitney: p of SciPy 1.16 (stats.mannwhitneyu, method='asymptotic'), and Holm's
 * correction by hand. */
#include "report/mann_whitney.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_close(double a, double b)
{
    assert_true(fabs(a - b) < 1e-9);
}

static void p_is_that_of_scipy(void **state)
{
    static const double a[] = {5.1, 4.9, 5.3, 5.0, 5.2, 4.8, 5.05, 4.95};
    static const double b[] = {5.6, 5.4, 5.2, 5.8, 5.5, 5.35}; /* 5.2 is in both */
    static const double ties_a[] = {1, 2, 2, 3, 3, 3, 4, 5}, ties_b[] = {2, 3, 4, 4, 5, 5, 6};
    static const double pi[] = {3, 1, 4, 1, 5, 9, 2, 6, 5}, e[] = {3, 5, 8, 9, 7, 9, 3};

    (void)state;
    assert_close(mann_whitney_p(a, 8, b, 6), 0.004464705671327198);
    assert_close(mann_whitney_p(b, 6, a, 8), 0.004464705671327198);
    assert_close(mann_whitney_p(ties_a, 8, ties_b, 7), 0.0983349877585014);
    assert_close(mann_whitney_p(pi, 9, e, 7), 0.1345783788053725);
}

static void samples_that_are_the_same_have_p_1(void **state)
{
    static const double same[] = {7, 7, 7, 7}, a[] = {1, 2, 3};

    (void)state;
    assert_close(mann_whitney_p(same, 4, same, 4), 1);
    assert_close(mann_whitney_p(a, 3, a, 3), 1);
    assert_close(mann_whitney_p(a, 3, a, 0), 1);
}

static void least_p_is_that_of_samples_apart(void **state)
{
    static const double ones[] = {1, 1, 1}, twos[] = {2, 2, 2};
    double a[10], b[10];

    (void)state;
    for (int i = 0; i < 10; i++) {
        a[i] = i;
        b[i] = 100 + i;
    }
    assert_close(mann_whitney_least_p(10, 10), 0.00018267179110955002);
    assert_close(mann_whitney_p(a, 10, b, 10), 0.00018267179110955002);
    assert_true(mann_whitney_least_p(3, 3) > 0.05);
    assert_close(mann_whitney_least_p(0, 3), 1);
    assert_true(mann_whitney_p(ones, 3, twos, 3) < mann_whitney_least_p(3, 3)); /* with ties */
}

static void holm_corrects_step_by_step(void **state)
{
    static const double p[] = {0.04, 0.001, 0.03, 0.03};
    double corrected[4];

    (void)state;
    mann_whitney_holm(p, corrected, 4);
    assert_close(corrected[1], 0.004); /* 4 times */
    assert_close(corrected[2], 0.09);  /* 3 times */
    assert_close(corrected[3], 0.09);  /* 2 times would be less than the one before */
    assert_close(corrected[0], 0.09);
    mann_whitney_holm((const double[]){0.5, 0.6}, corrected, 2);
    assert_close(corrected[0], 1);
    assert_close(corrected[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_is_that_of_scipy),
        cmocka_unit_test(samples_that_are_the_same_have_p_1),
        cmocka_unit_test(least_p_is_that_of_samples_apart),
        cmocka_unit_test(holm_corrects_step_by_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
