/* SPDX-License-Identifier: MIT
 * test_trend: the lowest number in the second quarter and in the last, without losses. */
#include "workload/trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_minimum_of_the_second_quarter_is_compared_with_that_of_the_last(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    for (uint64_t at = 0; at < 400; at++) /* in flight: as many as time units have passed */
        trend_add_sample(&g, at, at, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 100 && late == 300);
}

static void a_stall_does_not_make_a_queue_grow(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    for (uint64_t at = 0; at < 400; at++)
        trend_add_sample(&g, at >= 310 && at < 390 ? 1000 : 3, at, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 3 && late == 3);
}

static void growth_is_unknown_without_samples_in_both_quarters(void **state)
{
    struct trend g = {0};
    uint64_t early, late;

    (void)state;
    trend_add_sample(&g, 5, 0, 400);
    trend_add_sample(&g, 5, 299, 400);
    trend_add_sample(&g, 2, 200, 400); /* of the third quarter */
    assert_false(trend_least(&g, &early, &late));
    trend_add_sample(&g, 5, 100, 400);
    assert_false(trend_least(&g, &early, &late));
    trend_add_sample(&g, 7, 300, 400);
    assert_true(trend_least(&g, &early, &late));
    assert_true(early == 5 && late == 7);
}

enum { TIMEOUT = 200, DURATION = 400 };

/* The queries in flight, and those that have timed out, after `at`. */
struct load {
    uint64_t (*in_flight)(uint64_t at);
    uint64_t (*n_timed_out)(uint64_t at);
};

static void get_least(const struct load *load, uint64_t *early, uint64_t *late)
{
    struct trend g = {0};

    for (uint64_t at = 0; at < DURATION + TIMEOUT; at++) {
        trend_timed_out(&g, load->n_timed_out(at), at, TIMEOUT);
        if (at < DURATION)
            trend_add_sample(&g, load->in_flight(at), at, DURATION);
    }
    assert_true(trend_least(&g, early, late));
    trend_without_losses(&g, TIMEOUT, early, late);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* 10 of the queries of each time unit are lost. */
static uint64_t lost_in_flight(uint64_t at)
{
    return 10 * least_of(at, TIMEOUT);
}

static uint64_t n_lost(uint64_t at)
{
    return at > TIMEOUT ? 10 * (at - TIMEOUT) : 0;
}

static void steady_losses_do_not_make_a_queue_grow(void **state)
{
    uint64_t early, late;

    (void)state;
    get_least(&(struct load){lost_in_flight, n_lost}, &early, &late);
    assert_true(early == 0 && late == 0);
}

/* Of the queries in flight at the least of the second quarter, n_lost time out, as many as are lost
 * in the last; the least numbers are 100,000. */
static uint64_t late_without(uint64_t n_lost)
{
    struct trend g = {0};
    uint64_t early, late;

    trend_add_sample(&g, 100000, TIMEOUT, 2 * DURATION);
    trend_timed_out(&g, n_lost, 2 * TIMEOUT, TIMEOUT);
    trend_add_sample(&g, 100000, 3 * TIMEOUT, 2 * DURATION);
    trend_without_losses(&g, TIMEOUT, &early, &late);
    assert_int_equal(early, 100000 - n_lost);
    return late;
}

/* 4 standard deviations of the difference of two counts. */
static void chance_may_lose_more_in_the_last_quarter_but_no_more_than_half(void **state)
{
    (void)state;
    assert_int_equal(late_without(0), 100000);
    assert_int_equal(late_without(20000), 100000 - 20000 - 4 * 200);
    assert_int_equal(late_without(100), 100000 - 100 - 50); /* 4 * 14.1 is more */
}

/* 5 per time unit wait for longer and longer, but not yet for too long. */
static uint64_t queued_or_lost(uint64_t at)
{
    return 5 * at + lost_in_flight(at);
}

static void a_queue_grows_with_losses_too(void **state)
{
    uint64_t early, late;

    (void)state;
    get_least(&(struct load){queued_or_lost, n_lost}, &early, &late);
    assert_int_equal(early, 500);
    assert_true(late > 1100 && late < 1500);
}

/* Of 50 queries that become due per time unit, 10 are answered: one due at d would be at 5 d, but
 * those due later than at 50 time out before. */
static uint64_t queued_for_too_long(uint64_t at)
{
    return 50 * least_of(at - at / 5, TIMEOUT);
}

static uint64_t n_given_up(uint64_t at)
{
    return at > TIMEOUT + 50 ? 50 * (at - TIMEOUT - 50) : 0;
}

static void a_queue_in_which_queries_time_out_grows_no_less(void **state)
{
    uint64_t early, late;

    (void)state;
    get_least(&(struct load){queued_for_too_long, n_given_up}, &early, &late);
    assert_int_equal(early, 50 * (80 - 50));
    assert_true(late > 50 * (200 - 100) - 500 && late < 50 * (200 - 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimum_of_the_second_quarter_is_compared_with_that_of_the_last),
        cmocka_unit_test(a_stall_does_not_make_a_queue_grow),
        cmocka_unit_test(growth_is_unknown_without_samples_in_both_quarters),
        cmocka_unit_test(steady_losses_do_not_make_a_queue_grow),
        cmocka_unit_test(chance_may_lose_more_in_the_last_quarter_but_no_more_than_half),
        cmocka_unit_test(a_queue_grows_with_losses_too),
        cmocka_unit_test(a_queue_in_which_queries_time_out_grows_no_less),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
