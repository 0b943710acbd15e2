/* SPDX-License-Identifier: MIT
 * test_schedule_text: parsing variable rates into segments. */
#include "schedule_steps.h"

#include <stdio.h>
#include <string.h>

static void steps_are_read_in_readable_form(void **state)
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
    static const char *const bad[] = {
        "10s",     "10s:",      ":5",     "0s:5",   "10s:-5", "10s:5-",  "10s:a",  "x:5",
        "1s:5,2s", "10s:5-6-7", "1s:2e9", "1s:5:6", "400d:5", "9000h:1", "1s:nan", "8784h:1,1ns:1"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(schedule_parse(&s, bad[i], error), -1);
        assert_int_equal(s.n, 0);
        assert_non_null(strstr(error, "TIME:N"));
    }
    assert_int_equal(schedule_parse(&s, "1s:5,2s", error), -1);
    assert_non_null(strstr(error, "'2s'"));
    assert_int_equal(schedule_parse(&s, "1s:2G", error), -1);
    assert_non_null(strstr(error, "N at most 1G, at most a year in total"));
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
        {"1\n18446744073711 5\n", "line 2"}, /* 2^64 ns and 1 ms */
        {"2\n31622400000 5\n1 5\n", "line 3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(schedule_parse_steps(&s, bad[i].text, error), -1);
        assert_int_equal(s.n, 0);
        assert_non_null(strstr(error, bad[i].contains));
    }
}

static void lines_may_end_in_cr_lf(void **state)
{
    (void)state;
    assert_int_equal(schedule_parse_steps(&s, "2\r\n1000 50\r\n2000 60\r\n", error), 0);
    assert_int_equal(s.n, 2);
    assert_segment(0, S, 50, 50);
    assert_segment(1, 2 * S, 60, 60);
    assert_int_equal(schedule_parse_steps(&s, "1\r5\n1000 50\n", error), -1);
}

static void what_is_too_long_is_quoted_itself(void **state)
{
#define LONG  "7777777777777777777777777777777777777777"
#define SHOWN LONG "77777777777777777777'"
    (void)state;
    assert_int_equal(schedule_parse(&s, "1s:5," LONG LONG, error), -1);
    assert_non_null(strstr(error, "'" SHOWN));
    assert_ptr_equal(strstr(error, "invalid step"), error); /* of the only line */
    assert_int_equal(schedule_parse(&s, "1s:5\n\n" LONG LONG "\n2s:5", error), -1);
    assert_non_null(strstr(error, "line 3: invalid step '" SHOWN));
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
    assert_non_null(strstr(error, "at most a year and 1G per second"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_read_in_readable_form),
        cmocka_unit_test(bad_readable_forms_are_refused_with_the_item),
        cmocka_unit_test(steps_of_the_predecessor),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(lines_may_end_in_cr_lf),
        cmocka_unit_test(what_is_too_long_is_quoted_itself),
        cmocka_unit_test(slopes_go_on_from_the_rate_and_stop_at_zero),
        cmocka_unit_test(most_slopes_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
