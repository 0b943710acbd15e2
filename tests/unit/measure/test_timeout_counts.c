/* SPDX-License-Identifier: MIT
 * test_timeout_counts: the extremes and the most common value of what was counted. */
#include "measure/timeout_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void nothing_counted_has_no_values(void **state)
{
    struct timeout_counts t = {.counts = NULL};

    (void)state;
    assert_int_equal(timeout_counts_summary(&t).n, 0);
    assert_int_equal(timeout_counts_init(&t), 0);
    assert_int_equal(timeout_counts_summary(&t).n, 0);
    timeout_counts_free(&t);
    timeout_counts_free(&t);
}

static void summary_has_the_extremes_and_the_most_common_value(void **state)
{
    struct timeout_counts t, other;
    struct timeout_summary s;

    (void)state;
    assert_int_equal(timeout_counts_init(&t), 0);
    assert_int_equal(timeout_counts_init(&other), 0);
    timeout_counts_add(&t, 300);
    timeout_counts_add(&t, 65535);
    timeout_counts_add(&t, 300);
    assert_int_equal(timeout_counts_summary(&t).min, 300);
    timeout_counts_add(&other, 0);
    timeout_counts_add(&other, 40);
    timeout_counts_add(&other, 40);
    timeout_counts_merge(&t, &other);
    s = timeout_counts_summary(&t);
    assert_int_equal(s.n, 6);
    assert_int_equal(s.min, 0);
    assert_int_equal(s.max, 65535);
    assert_int_equal(s.most_common, 40); /* as common as 300, but lower */
    assert_int_equal(s.n_most_common, 2);
    timeout_counts_add(&t, 300);
    assert_int_equal(timeout_counts_summary(&t).most_common, 300);
    timeout_counts_free(&t);
    timeout_counts_free(&other);
}

static void merging_with_what_counts_nothing_has_no_effect(void **state)
{
    struct timeout_counts none = {.counts = NULL}, t;

    (void)state;
    assert_int_equal(timeout_counts_init(&t), 0);
    timeout_counts_add(&t, 5);
    timeout_counts_merge(&t, &none);
    timeout_counts_merge(&none, &t);
    assert_int_equal(timeout_counts_summary(&t).n, 1);
    assert_null(none.counts);
    timeout_counts_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_counted_has_no_values),
        cmocka_unit_test(summary_has_the_extremes_and_the_most_common_value),
        cmocka_unit_test(merging_with_what_counts_nothing_has_no_effect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
