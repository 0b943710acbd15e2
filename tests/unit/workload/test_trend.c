/* SPDX-License-Identifier: MIT
 * test_trend: the least of the second quarter and of the last. */
#include "workload/trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_least_of_the_second_quarter_is_set_beside_that_of_the_last(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    for (uint64_t at = 0; at < 400; at++) /* in flight: as many as time units have passed */
        trend_look(&g, at, at, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 100 && late == 300);
}

static void a_stall_does_not_make_a_queue_grow(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    for (uint64_t at = 0; at < 400; at++)
        trend_look(&g, at >= 310 && at < 390 ? 1000 : 3, at, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 3 && late == 3);
}

static void without_looks_in_both_there_is_no_telling(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    trend_look(&g, 5, 0, 400);
    trend_look(&g, 5, 299, 400);
    assert_false(trend_least(&g, &early, &late));
    trend_look(&g, 5, 100, 400);
    assert_false(trend_least(&g, &early, &late));
    trend_look(&g, 7, 300, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 5 && late == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_the_second_quarter_is_set_beside_that_of_the_last),
        cmocka_unit_test(a_stall_does_not_make_a_queue_grow),
        cmocka_unit_test(without_looks_in_both_there_is_no_telling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
