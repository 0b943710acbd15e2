/* SPDX-License-Identifier: MIT
 * test_trend: the second quarter compared with the last. */
#include "workload/trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_second_quarter_is_set_beside_the_last(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    for (uint64_t at = 0; at < 400; at++) /* in flight: as many as time units have passed */
        trend_look(&g, at, at, 400);
    assert_true(trend_means(&g, &early, &late));
    assert_int_equal(early, (100 + 199) / 2);
    assert_int_equal(late, (300 + 399) / 2);
}

static void a_stall_leaves_short_queues_where_growth_does_not(void **state)
{
    struct trend grows = {0}, stalls = {0};
    uint64_t early, late;

    (void)state;
    assert_false(trend_least(&grows, &early, &late));
    for (uint64_t at = 0; at < 400; at++) {
        trend_look(&grows, at, at, 400);
        trend_look(&stalls, at >= 350 && at < 390 ? 1000 : 3, at, 400);
    }
    assert_true(trend_least(&grows, &early, &late));
    assert_true(early == 100 && late == 300);
    assert_true(trend_least(&stalls, &early, &late));
    assert_true(early == 3 && late == 3);
    assert_true(trend_means(&stalls, &early, &late)); /* the control */
    assert_true(late > 300);
}

static void without_looks_in_both_there_is_no_telling(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    trend_look(&g, 5, 0, 400);
    trend_look(&g, 5, 299, 400);
    assert_false(trend_means(&g, &early, &late));
    trend_look(&g, 5, 100, 400);
    assert_false(trend_means(&g, &early, &late));
    trend_look(&g, 7, 300, 400);
    assert_true(trend_means(&g, &early, &late));
    assert_true(early == 5 && late == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_quarter_is_set_beside_the_last),
        cmocka_unit_test(a_stall_leaves_short_queues_where_growth_does_not),
        cmocka_unit_test(without_looks_in_both_there_is_no_telling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
