/* SPDX-License-Identifier: MIT
 * test_schedule: parsing variable rates into segments. */
#include "workload/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S  1000000000ull
#define MS 1000000ull

static struct schedule s;
static char error[SCHEDULE_ERROR_BYTES];

static void assert_segment(size_t i, uint64_t duration_ns, double begin_qps, double end_qps)
{
    assert_true(i < s.n);
    assert_int_equal(s.segments[i].duration_ns, duration_ns);
    assert_true(s.segments[i].rate_begin_qps == begin_qps);
    assert_true(s.segments[i].rate_end_qps == end_qps);
}

static void readable_form(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse(&s, "10s:0-5k,1m:5000,500ms:5000-0.5", error), 0);
    assert_int_equal(s.n, 3);
    assert_segment(0, 10 * S, 0, 5000);
    assert_segment(1, 60 * S, 5000, 5000);
    assert_segment(2, 500 * MS, 5000, 0.5);
    assert_int_equal(schedule_parse(&s, "# up\n1s:0-1 # slowly\n\n 2s:1,\n", error), 0);
    assert_int_equal(s.n, 2);
    assert_segment(1, 2 * S, 1, 1);
}

static void bad_readable_forms_are_refused_with_the_item(void **state)
{
    static const char *const bad[] = {"10s",    "10s:",   ":5",     "0s:5",    "10s:-5",
                                      "10s:5-", "10s:a",  "x:5",    "1s:5,2s", "10s:5-6-7",
                                      "1s:2e9", "1s:5:6", "400d:5", "9000h:1", "1s:nan"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(schedule_parse(&s, bad[i], error), -1);
        assert_int_equal(s.n, 0);
        assert_non_null(strstr(error, "TIME:N"));
    }
    assert_int_equal(schedule_parse(&s, "1s:5,2s", error), -1);
    assert_non_null(strstr(error, "'2s'"));
    assert_int_equal(schedule_parse(&s, "", error), -1);
    assert_int_equal(schedule_parse(&s, "# nothing", error), -1);
}

static void steps_of_the_predecessor(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse_steps(&s, "2\n1000 50\n2500 400\n", error), 0);
    assert_int_equal(s.n, 2);
    assert_segment(0, S, 50, 50);
    assert_segment(1, 2500 * MS, 400, 400);
    assert_int_equal(schedule_parse_steps(&s, "1\r\n  1000   0.5 \r", error), -1);
    assert_int_equal(schedule_parse_steps(&s, "1\n  1000   0.5 \r", error), 0);
}

static void bad_lines_are_refused_with_their_number(void **state)
{
    static const struct {
        const char *text, *contains;
    } bad[] = {
        {"", "line 1"},
        {"0\n", "line 1"},
        {"257\n", "line 1"},
        {"x\n1 1\n", "line 1"},
        {"2\n1000 50\n", "fewer"},
        {"1\n1000 50\n1000 60\n", "more"},
        {"2\n1000 50\n1000\n", "line 3"},
        {"1\n1000 -5\n", "line 2"},
        {"1\n0 5\n", "line 2"},
        {"1\n-1 5\n", "line 2"},
        {"1\n1000 50 60\n", "line 2"},
        {"1\n99999999999999 5\n", "line 2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(schedule_parse_steps(&s, bad[i].text, error), -1);
        assert_int_equal(s.n, 0);
        assert_non_null(strstr(error, bad[i].contains));
    }
}

static void what_is_too_long_is_quoted_itself(void **state)
{
#define LONG  "7777777777777777777777777777777777777777"
#define SHOWN LONG "77777777777777777777'"
    (void)state;
    assert_int_equal(schedule_parse(&s, "1s:5," LONG LONG, error), -1);
    assert_non_null(strstr(error, "'" SHOWN));
    assert_int_equal(schedule_parse_steps(&s, "2\n1000 5\n" LONG LONG, error), -1);
    assert_non_null(strstr(error, "line 3: invalid step '" SHOWN));
    assert_int_equal(schedule_parse_steps(&s, LONG LONG "\n", error), -1);
    assert_non_null(strstr(error, "line 1: invalid line count '" SHOWN));
#undef SHOWN
#undef LONG
}

static void slopes_go_on_from_the_rate_and_stop_at_zero(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse_slopes(&s, "3\n2000 42\n4000 -50\n1000 +10\n", 16, error), 0);
    assert_int_equal(s.n, 4);
    assert_segment(0, 2 * S, 16, 100);
    assert_segment(1, 2 * S, 100, 0);
    assert_segment(2, 2 * S, 0, 0);
    assert_segment(3, S, 0, 10);
    assert_int_equal(schedule_parse_slopes(&s, "1\n1000 -5\n", 0, error), 0);
    assert_int_equal(s.n, 1);
    assert_segment(0, S, 0, 0);
    assert_int_equal(schedule_parse_slopes(&s, "1\n1000 1e9\n", 10, error), -1);
    assert_int_equal(schedule_parse_slopes(&s, "1\n2000 1G\n", 10, error), -1);
}

static void most_slopes_fit(void **state)
{
    char text[8192] = "256\n";
    size_t n = strlen(text);

    (void)state;
    for (int i = 0; i < 128; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "1000 10\n2000 -10\n");
    assert_int_equal(schedule_parse_slopes(&s, text, 0, error), 0);
    assert_int_equal(s.n, 384);
    schedule_prepend_warmup(&s, S);
    assert_int_equal(s.n, 385);
}

static void what_it_amounts_to(void **state)
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

static void what_has_passed_is_made_one_segment(void **state)
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
        cmocka_unit_test(readable_form),
        cmocka_unit_test(bad_readable_forms_are_refused_with_the_item),
        cmocka_unit_test(steps_of_the_predecessor),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(what_is_too_long_is_quoted_itself),
        cmocka_unit_test(slopes_go_on_from_the_rate_and_stop_at_zero),
        cmocka_unit_test(most_slopes_fit),
        cmocka_unit_test(what_it_amounts_to),
        cmocka_unit_test(the_rest_is_replaced_at_a_moment),
        cmocka_unit_test(what_has_passed_is_made_one_segment),
        cmocka_unit_test(more_segments_than_there_is_room_for_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
