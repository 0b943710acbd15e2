/* SPDX-License-Identifier: MIT
 * test_progress: the progress line. */
#include "client/progress.h"

#include "print_steps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

/* Returns the line, to be freed by the caller. */
static char *line_of(struct progress *p, const struct tally *now)
{
    progress_print(print_open(), p, now);
    return print_close();
}

static void assert_line(struct progress *p, const struct tally *now, const char *wanted)
{
    char *text = line_of(p, now);

    assert_string_equal(text, wanted);
    free(text);
}

static void line_says_how_long_the_start_is_away(void **state)
{
    struct progress p = {
        .n_requested = 1, .now_ns = 2000 * MS, .end_ns = UINT64_MAX, .wait_ns = 90000 * MS};
    const struct tally t = {0};

    (void)state;
    assert_line(&p, &t,
                "tcpclient: connecting 2.0 s, 0 of 1 connected, 0 proven, 0/s, starts in 90.0 s");
}

static void line_is_about_the_time_since_the_last(void **state)
{
    struct progress p = {
        .n_requested = 100, .start_ns = 500 * MS, .end_ns = UINT64_MAX, .now_ns = 2000 * MS};
    struct tally t = {0};

    (void)state;
    tally_add(&t.connections.connected, 99);
    tally_add(&t.connections.proven, 98);
    assert_line(&p, &t, "tcpclient: connecting 1.5 s, 99 of 100 connected, 98 proven, 50/s");
    p.now_ns = 2500 * MS;
    tally_add(&t.connections.connected, 1);
    assert_line(&p, &t, "tcpclient: connecting 2.0 s, 100 of 100 connected, 98 proven, 2/s");
    p.begin_ns = 2500 * MS;
    p.now_ns = 3000 * MS;
    p.live = 98;
    tally_add(&t.queries[TALLY_WARMUP].sent, 420);
    tally_add(&t.queries[TALLY_MEASURED].sent, 80);
    tally_add(&t.queries[TALLY_WARMUP].answered, 400);
    tally_add(&t.queries[TALLY_WARMUP].timeout, 15);
    tally_add(&t.queries[TALLY_MEASURED].error, 5);
    tally_add(&t.queries[TALLY_MEASURED].cancelled, 2);
    tally_add(&t.queries[TALLY_MEASURED].unsent, 3);
    assert_line(
        &p, &t,
        "tcpclient: running 0.5 s, 98 live, 1000 sent/s, p50 -, p99 -, 25 lost, 78 in flight, "
        "800 answered/s");
    p.now_ns = 4000 * MS;
    tally_add(&t.queries[TALLY_MEASURED].sent, 70);
    tally_add(&t.queries[TALLY_MEASURED].answered, 60);
    assert_line(&p, &t,
                "tcpclient: running 1.5 s, 98 live, 70 sent/s, p50 -, p99 -, 25 lost, 88 in "
                "flight, 60 answered/s");
}

static void line_at_the_start_of_the_schedule_has_no_rate(void **state)
{
    struct progress p = {.begin_ns = 2500 * MS, .end_ns = UINT64_MAX, .now_ns = 2500 * MS};
    struct tally t = {0};

    (void)state;
    tally_add(&t.queries[TALLY_MEASURED].sent, 1);
    assert_line(&p, &t,
                "tcpclient: running 0.0 s, 0 live, 0 sent/s, p50 -, p99 -, 0 lost, 1 in flight, 0 "
                "answered/s");
}

/* The counts are read one by one, while the workers add to them. */
static void more_answers_than_queries_leave_none_in_flight(void **state)
{
    struct progress p = {.begin_ns = 500 * MS, .end_ns = UINT64_MAX, .now_ns = 1500 * MS};
    struct tally t = {0};

    (void)state;
    tally_add(&t.queries[TALLY_MEASURED].sent, 1);
    tally_add(&t.queries[TALLY_MEASURED].answered, 2);
    assert_line(&p, &t,
                "tcpclient: running 1.0 s, 0 live, 1 sent/s, p50 -, p99 -, 0 lost, 0 in flight, 2 "
                "answered/s");
}

static void line_has_the_queries_due_and_sent(void **state)
{
    struct progress p = {.n_due = 2500,
                         .begin_ns = 500 * MS,
                         .end_ns = 10500 * MS,
                         .now_ns = 3000 * MS,
                         .interface = "lo",
                         .net = {3000, 3072 * 1024, 6000, 6144 * 1024}};
    struct tally t = {0};
    struct hist h;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, i < 985 ? 2 * MS : 3 * MS);
    p.response = &h;
    tally_add(&t.queries[TALLY_MEASURED].sent, 2500);
    assert_line(
        &p, &t,
        "tcpclient: running 2.5 of 10.0 s, 0 live, 1000 of 1000 sent/s, p50 2.00 ms, p99 3.00 "
        "ms, 0 lost, 2500 in flight, 0 answered/s, lo in 1000 packets/s 1.00 MiB/s, out 2000 "
        "packets/s 2.00 MiB/s");
    p.now_ns = 4000 * MS;
    p.net.rx_packets += 5;
    p.search = "trial 3";
    assert_line(&p, &t,
                "tcpclient: running 3.5 of 10.0 s, 0 live, trial 3, 0 sent/s, p50 2.00 ms, p99 "
                "3.00 ms, 0 lost, 2500 in flight, 0 answered/s, lo in 5 packets/s 0 B/s, out 0 "
                "packets/s 0 B/s");
    p.search = NULL;
    p.interface = NULL;
    p.response = NULL;
    p.now_ns = 5000 * MS;
    p.n_due = 2510;
    assert_line(&p, &t,
                "tcpclient: running 4.5 of 10.0 s, 0 live, 0 of 10 sent/s, p50 -, p99 -, 0 lost, "
                "2500 in flight, 0 answered/s");
    p.now_ns = 10800 * MS;
    assert_line(&p, &t,
                "tcpclient: draining 0.3 s, 0 live, 0 sent/s, p50 -, p99 -, 0 lost, 2500 in "
                "flight, 0 answered/s");
    hist_free(&h);
}

static void small_rate_is_not_rounded_to_nothing(void **state)
{
    struct progress p = {.previous_ns = 500 * MS,
                         .begin_ns = 500 * MS,
                         .end_ns = UINT64_MAX,
                         .now_ns = 5500 * MS,
                         .n_due = 2};
    struct tally t = {0};

    (void)state;
    tally_add(&t.queries[TALLY_MEASURED].sent, 2);
    tally_add(&t.queries[TALLY_MEASURED].answered, 1);
    assert_line(&p, &t,
                "tcpclient: running 5.0 s, 0 live, 0.4 of 0.4 sent/s, p50 -, p99 -, 0 lost, 1 in "
                "flight, 0.2 answered/s");
    p.now_ns = 10500 * MS;
    p.n_due = 12;
    tally_add(&t.queries[TALLY_MEASURED].sent, 8);
    assert_line(&p, &t,
                "tcpclient: running 10.0 s, 0 live, 2 of 2 sent/s, p50 -, p99 -, 0 lost, 9 in "
                "flight, 0 answered/s");
}

/* Between the trials of a search nothing is due, but the number is computed again. */
static void error_of_rounding_is_no_rate(void **state)
{
    struct progress p = {.previous_ns = 500 * MS,
                         .begin_ns = 500 * MS,
                         .end_ns = UINT64_MAX,
                         .now_ns = 5500 * MS,
                         .previous_due = 1001423,
                         .n_due = 1001423 + 3e-10};
    struct tally t = {0};

    (void)state;
    assert_true(p.n_due > p.previous_due);
    assert_line(&p, &t,
                "tcpclient: running 5.0 s, 0 live, 0 sent/s, p50 -, p99 -, 0 lost, 0 in flight, 0 "
                "answered/s");
}

/* Most queries were not answered within the timeout. */
static void percentile_among_the_unanswered_is_above_the_timeout(void **state)
{
    struct progress p = {
        .timeout_ns = 1500 * MS, .end_ns = UINT64_MAX, .begin_ns = 500 * MS, .now_ns = 1000 * MS};
    struct tally t = {0};
    struct hist h;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 900; i++)
        hist_record(&h, 2 * MS);
    hist_record_beyond(&h, 1100);
    p.response = &h;
    assert_line(&p, &t,
                "tcpclient: running 0.5 s, 0 live, 0 sent/s, p50 >1.50 s, p99 >1.50 s, 0 "
                "lost, 0 in flight, 0 answered/s");
    p.listens = true;
    assert_line(&p, &t,
                "tcpclient: running 0.5 s, 0 live, 0 messages/s, p50 never, p99 never, 0 "
                "lost");
    hist_free(&h);
}

static void listener_counts_messages(void **state)
{
    struct progress p = {.listens = true,
                         .previous_ns = 1000 * MS,
                         .begin_ns = 1000 * MS,
                         .end_ns = 11000 * MS,
                         .now_ns = 3000 * MS,
                         .live = 50};
    struct tally t = {0};
    struct hist h;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, i < 985 ? 2 * MS : 3 * MS);
    tally_add(&t.push.before, 100);
    tally_add(&t.push.measured, 900);
    tally_add(&t.push.lost, 4);
    assert_line(&p, &t,
                "tcpclient: running 2.0 of 10.0 s, 50 live, 500 messages/s, p50 -, p99 -, 4 lost");
    p.now_ns = 4000 * MS;
    tally_add(&t.push.after, 10);
    p.response = &h;
    assert_line(&p, &t,
                "tcpclient: running 3.0 of 10.0 s, 50 live, 10 messages/s, p50 2.00 ms, p99 3.00 "
                "ms, 4 lost");
    hist_free(&h);
}

static void line_in_place_is_cut_and_cleared(void **state)
{
    FILE *out = print_open();
    char *text;

    (void)state;
    progress_show_in_place(out, "0123456789", 4);
    progress_show_in_place(out, NULL, 4);
    text = print_close();
    assert_string_equal(text, "\r\033[K0123\r\033[K");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_says_how_long_the_start_is_away),
        cmocka_unit_test(line_is_about_the_time_since_the_last),
        cmocka_unit_test(line_at_the_start_of_the_schedule_has_no_rate),
        cmocka_unit_test(more_answers_than_queries_leave_none_in_flight),
        cmocka_unit_test(line_has_the_queries_due_and_sent),
        cmocka_unit_test(small_rate_is_not_rounded_to_nothing),
        cmocka_unit_test(error_of_rounding_is_no_rate),
        cmocka_unit_test(percentile_among_the_unanswered_is_above_the_timeout),
        cmocka_unit_test(listener_counts_messages),
        cmocka_unit_test(line_in_place_is_cut_and_cleared),
    };
    static char name[] = "tcpclient";

    program_invocation_short_name = name;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
