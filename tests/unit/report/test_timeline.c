/* SPDX-License-Identifier: MIT
 * test_timeline: intervals of several logs by second, each counted once. */
#include "report/timeline.h"

#include "interval_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NS_PER_S 1000000000ull

/* Adds an interval of n values of value_ns. */
static void add(struct timeline *t, const char *tag, uint64_t start_ns, uint64_t begin_ns,
                uint64_t value_ns, int n)
{
    struct hist h;

    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < n; i++)
        hist_record(&h, value_ns);
    add_interval(t, tag, start_ns, begin_ns, NS_PER_S, &h);
    hist_free(&h);
}

/* first: the number of the log that begins first. */
static void assert_joined(uint32_t first)
{
    struct timeline one = {0}, other = {0}, all = {0};
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;

    assert_int_equal(hist_init(&h), 0);
    add(&one, NULL, 100 * NS_PER_S, 0, 1000, 3);
    add(&one, "service", 100 * NS_PER_S, 0, 500, 3);
    add(&one, NULL, 100 * NS_PER_S, 1001000000, 2000, 4);
    add(&other, NULL, 100 * NS_PER_S + 200000000, 0, 9000, 5); /* began 0.2 s later */
    assert_int_equal(timeline_join(&all, &other, 1 - first), 0);
    assert_int_equal(timeline_join(&all, &one, first), 0);
    timeline_sort(&all);
    assert_int_equal(timeline_first_ns(&all), 100 * NS_PER_S);

    assert_int_equal(timeline_next(&all, &at, &covered, &h), 1);
    assert_string_equal(covered.tag, "");
    assert_int_equal(h.count, 8);
    assert_int_equal(h.max_ns, 9000);
    assert_int_equal(covered.begin_ns, 100 * NS_PER_S);
    assert_int_equal(covered.length_ns, NS_PER_S); /* 8 values in a second: 3/s and 5/s */
    assert_int_equal(timeline_next(&all, &at, &covered, &h), 1);
    assert_string_equal(covered.tag, "service");
    assert_int_equal(h.count, 3);
    assert_int_equal(timeline_next(&all, &at, &covered, &h), 1);
    assert_int_equal(h.count, 4);
    assert_int_equal(covered.second, 1);
    assert_int_equal(timeline_next(&all, &at, &covered, &h), 0);
    timeline_free(&all);
    timeline_free(&one);
    timeline_free(&other);
    hist_free(&h);
}

static void seconds_of_two_logs_are_joined(void **state)
{
    (void)state;
    assert_joined(0);
    assert_joined(1);
}

/* The last interval of a log may begin in the second of the one before. */
static void intervals_of_one_log_follow_each_other(void **state)
{
    struct timeline log = {0}, all = {0};
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 3; i++)
        hist_record(&h, 1000);
    add_interval(&log, NULL, 0, 0, 400000000, &h);
    add_interval(&log, NULL, 0, 400000000, 50000000, &h);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(timeline_join(&all, &log, i), 0);
    timeline_sort(&all);
    assert_int_equal(timeline_next(&all, &at, &covered, &h), 1);
    assert_int_equal(h.count, 12);
    assert_int_equal(covered.length_ns, 450000000);
    assert_int_equal(timeline_next(&all, &at, &covered, &h), 0);
    timeline_free(&all);
    timeline_free(&log);
    hist_free(&h);
}

/* The ticks of one are in the middle between those of the other, a millisecond early or late. */
static void each_second_has_an_interval_of_both_logs(void **state)
{
    static const uint64_t late_ns[] = {0, 499000000, 1501000000, 2499000000, 3501000000};
    struct timeline one = {0}, other = {0}, all = {0};
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (uint64_t second = 0; second < 5; second++) {
        add(&one, NULL, 0, second * NS_PER_S, 1000, 3);
        add(&other, NULL, 0, late_ns[second], 1000, 4);
    }
    assert_int_equal(timeline_join(&all, &one, 0), 0);
    assert_int_equal(timeline_join(&all, &other, 1), 0);
    timeline_sort(&all);
    for (uint64_t second = 0; second < 5; second++) {
        assert_int_equal(timeline_next(&all, &at, &covered, &h), 1);
        assert_int_equal(covered.second, second);
        assert_int_equal(h.count, second == 0 ? 3 + 2 * 4 : second == 4 ? 3 : 3 + 4);
    }
    timeline_free(&all);
    timeline_free(&one);
    timeline_free(&other);
    hist_free(&h);
}

/* Of a day, with the usual five metrics, the text takes hundreds of megabytes. */
/* They were in that of the alphabet. */
static void tags_keep_the_order_of_the_logs(void **state)
{
    static const char *const expected[] = {"", "service", "net", "aside", "", "service", "net"};
    struct timeline t = {0};
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    add(&t, "service", 100 * NS_PER_S, 0, 500, 1);
    add(&t, "net", 100 * NS_PER_S, 0, 500, 1);
    add(&t, NULL, 100 * NS_PER_S, 0, 500, 1);
    add(&t, "net", 100 * NS_PER_S, NS_PER_S, 500, 1);
    add(&t, "service", 100 * NS_PER_S, NS_PER_S, 500, 1);
    add(&t, NULL, 100 * NS_PER_S, NS_PER_S, 500, 1);
    add(&t, "aside", 100 * NS_PER_S, 0, 500, 1);
    timeline_sort(&t);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(timeline_next(&t, &at, &covered, &h), 1);
        assert_string_equal(covered.tag, expected[i]);
    }
    assert_int_equal(timeline_next(&t, &at, &covered, &h), 0);
    hist_free(&h);
    timeline_free(&t);
}

static void joined_logs_share_their_text(void **state)
{
    struct timeline log = {0}, all = {0};

    (void)state;
    add(&log, NULL, 0, 0, 1000, 3);
    assert_int_equal(timeline_join(&all, &log, 0), 0);
    assert_ptr_equal(all.entries[0].base64, log.entries[0].base64);
    timeline_free(&all);
    assert_int_equal(strlen(log.entries[0].base64) % 4, 0); /* not freed */
    timeline_free(&log);
}

static void an_empty_one_has_nothing(void **state)
{
    struct timeline t = {0};
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    timeline_sort(&t);
    assert_int_equal(timeline_next(&t, &at, &covered, &h), 0);
    assert_int_equal(timeline_first_ns(&t), UINT64_MAX);
    timeline_free(&t);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_of_two_logs_are_joined),
        cmocka_unit_test(intervals_of_one_log_follow_each_other),
        cmocka_unit_test(each_second_has_an_interval_of_both_logs),
        cmocka_unit_test(tags_keep_the_order_of_the_logs),
        cmocka_unit_test(joined_logs_share_their_text),
        cmocka_unit_test(an_empty_one_has_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
