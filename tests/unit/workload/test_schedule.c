/* SPDX-License-Identifier: MIT
 * test_schedule: what a schedule amounts to, and changes to it. */
#include "schedule_steps.h"

static void duration_mean_and_peak_are_those_of_all_segments(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse(&s, "10s:0-100,10s:100", error), 0);
    assert_int_equal(schedule_duration_ns(&s), 20 * S);
    assert_true(schedule_mean_qps(&s, 0) == 75);
    assert_true(schedule_mean_qps(&s, 10 * S) == 100);
    assert_true(schedule_mean_qps(&s, 5 * S) == (75.0 * 5 + 100 * 10) / 15);
    assert_true(schedule_peak_qps(&s) == 100);
    assert_true(schedule_rate_qps(&s, 5 * S) == 50);
    assert_true(schedule_rate_qps(&s, 15 * S) == 100);
    assert_true(schedule_rate_qps(&s, 20 * S) == 0);
    assert_false(schedule_is_constant(&s));
    schedule_prepend_warmup(&s, 5 * S);
    assert_segment(0, 5 * S, 0, 0);
    assert_true(schedule_mean_qps(&s, 5 * S) == 75);
    schedule_scale(&s, 0.5);
    assert_segment(1, 10 * S, 0, 50);
    assert_segment(2, 10 * S, 50, 50);
    schedule_constant(&s, PACER_NEVER, 7);
    assert_true(schedule_is_constant(&s));
    assert_true(schedule_mean_qps(&s, 3 * S) == 7 && schedule_rate_qps(&s, 99 * S) == 7);
    assert_true(schedule_duration_ns(&s) == PACER_NEVER);
}

static void the_rest_is_replaced_at_a_moment(void **state)
{
    static struct schedule other;

    (void)state;
    assert_int_equal(schedule_parse(&s, "10s:0-100,10s:100", error), 0);
    schedule_constant(&other, 20 * S, 400);
    assert_int_equal(schedule_replace_rest(&s, 5 * S, &other), 0);
    assert_int_equal(s.n, 2);
    assert_segment(0, 5 * S, 0, 50);
    assert_segment(1, 15 * S, 400, 400);
    assert_int_equal(schedule_parse(&other, "10s:7,10s:100-0", error), 0);
    assert_int_equal(schedule_replace_rest(&s, 15 * S, &other), 0);
    assert_int_equal(s.n, 3);
    assert_segment(1, 10 * S, 400, 400);
    assert_segment(2, 5 * S, 50, 0);
    assert_true(schedule_mean_between_qps(&s, 5 * S, 15 * S) == 400);
    assert_true(schedule_mean_between_qps(&s, 0, 10 * S) == (25.0 * 5 + 400 * 5) / 10);
    schedule_constant(&s, PACER_NEVER, 5);
    schedule_constant(&other, PACER_NEVER, 9);
    assert_int_equal(schedule_replace_rest(&s, 3 * S, &other), 0);
    assert_segment(0, 3 * S, 5, 5);
    assert_segment(1, PACER_NEVER, 9, 9);
    assert_true(schedule_mean_between_qps(&s, S, 5 * S) == 7);
}

static void the_past_is_merged_into_one_segment(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse(&s, "2s:10,1s:20-40,1s:0,4s:100", error), 0);
    schedule_flatten(&s, S, 5 * S);
    assert_int_equal(s.n, 3);
    assert_segment(0, S, 10, 10);
    assert_segment(1, 4 * S, 35, 35);
    assert_segment(2, 3 * S, 100, 100);
    assert_true(schedule_mean_between_qps(&s, 0, 8 * S) == (20.0 + 30 + 400) / 8);
}

static void a_ramp_is_neither_constant_nor_over_its_first_rate(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse(&s, "10s:100-300", error), 0);
    assert_false(schedule_is_constant(&s));
    assert_true(schedule_peak_qps(&s) == 300);
    assert_int_equal(schedule_parse(&s, "10s:100-300,10s:200", error), 0);
    assert_true(schedule_peak_qps(&s) == 300);
    assert_int_equal(schedule_parse(&s, "10s:100,10s:100", error), 0);
    assert_true(schedule_is_constant(&s));
}

static void nothing_is_due_after_the_end(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse(&s, "10s:100", error), 0);
    assert_true(schedule_mean_between_qps(&s, 5 * S, 10 * S) == 100);
    assert_true(schedule_mean_between_qps(&s, 5 * S, 15 * S) == 50);
}

static void more_segments_than_there_is_room_for_are_refused(void **state)
{
    static struct schedule other, before;

    (void)state;
    schedule_constant(&s, PACER_NEVER, 0);
    for (uint64_t i = 1; i < SCHEDULE_MOST; i++) {
        schedule_constant(&other, PACER_NEVER, (double)i);
        assert_int_equal(schedule_replace_rest(&s, i * S, &other), 0);
    }
    assert_int_equal(s.n, SCHEDULE_MOST);
    before = s;
    assert_int_equal(schedule_replace_rest(&s, SCHEDULE_MOST * S, &other), -1);
    assert_memory_equal(&s, &before, sizeof s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duration_mean_and_peak_are_those_of_all_segments),
        cmocka_unit_test(the_rest_is_replaced_at_a_moment),
        cmocka_unit_test(the_past_is_merged_into_one_segment),
        cmocka_unit_test(a_ramp_is_neither_constant_nor_over_its_first_rate),
        cmocka_unit_test(nothing_is_due_after_the_end),
        cmocka_unit_test(more_segments_than_there_is_room_for_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
