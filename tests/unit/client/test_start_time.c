/* SPDX-License-Identifier: MIT
 * test_start_time: which texts are a time, and whether it is early, now or too late. */
#include "client/start_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u
#define S  1000000000u

static void seconds_and_decimals_are_exact(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"0", 0},
                {"1800000000", 1800000000ull * S},
                {"1800000000.25", 1800000000ull * S + 250 * MS},
                {"1800000000.000000001", 1800000000ull * S + 1},
                {"1800000000.123456789", 1800000000ull * S + 123456789},
                {"9214646399.999999999", 9214646399ull * S + 999999999}};
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(start_time_parse(good[i].text, &ns), 0);
        assert_true(ns == good[i].ns);
    }
}

static void anything_else_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "-1",
                                      "+1",
                                      "1e9",
                                      "1.",
                                      ".5",
                                      "1,5",
                                      "1800000000s",
                                      "now",
                                      "0x10",
                                      "1 ",
                                      " 1",
                                      "9214646400",
                                      "99999999999999999999999999",
                                      "1.5.2",
                                      "nan",
                                      "inf",
                                      "1800000000.1234567890"};
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (start_time_parse(bad[i], &ns) == 0)
            fail_msg("'%s' was taken for %llu ns", bad[i], (unsigned long long)ns);
}

static void line_that_is_not_ended_is_unfinished(void **state)
{
    static const char text[] = "1800000000.5\n";
    uint64_t ns = 0;

    (void)state;
    for (size_t n = 0; n < strlen(text); n++)
        assert_int_equal(start_time_read(text, n, &ns), START_TIME_UNFINISHED);
    assert_true(ns == 0);
    assert_int_equal(start_time_read(text, strlen(text), &ns), START_TIME_COMPLETE);
    assert_true(ns == 1800000000ull * S + 500 * MS);
}

static void file_with_anything_else_is_wrong(void **state)
{
    static const char *const bad[] = {"\n", "soon\n", "1800000000\n1\n", "1800000000\r\n",
                                      "00000000000000000000000000000000000000"};
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(start_time_read(bad[i], strlen(bad[i]), &ns), START_TIME_WRONG);
    assert_int_equal(start_time_read("1\0002\n", 4, &ns), START_TIME_WRONG);
}

static void moment_is_ahead_now_and_missed_to_the_nanosecond(void **state)
{
    const uint64_t at = 1800000000ull * S, ahead = 200 * MS, late = 50 * MS;

    (void)state;
    assert_int_equal(start_time_judge(at, 0, ahead, late), START_TIME_AHEAD);
    assert_int_equal(start_time_judge(at, at - ahead - 1, ahead, late), START_TIME_AHEAD);
    assert_int_equal(start_time_judge(at, at - ahead, ahead, late), START_TIME_NOW);
    assert_int_equal(start_time_judge(at, at, ahead, late), START_TIME_NOW);
    assert_int_equal(start_time_judge(at, at + late, ahead, late), START_TIME_NOW);
    assert_int_equal(start_time_judge(at, at + late + 1, ahead, late), START_TIME_MISSED);
    assert_int_equal(start_time_judge(at, UINT64_MAX, ahead, late), START_TIME_MISSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_and_decimals_are_exact),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(line_that_is_not_ended_is_unfinished),
        cmocka_unit_test(file_with_anything_else_is_wrong),
        cmocka_unit_test(moment_is_ahead_now_and_missed_to_the_nanosecond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
