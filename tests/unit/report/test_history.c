/* SPDX-License-Identifier: MIT
 * test_history: no answer is lost between the log and the columns; what was not answered is a gap.
 */
#include "report/history.h"

#include "interval_steps.h"
#include "measure/latency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ull

static struct timeline timeline;
static struct hist one;
static struct history history;

static int start(void **state)
{
    (void)state;
    return hist_init(&one);
}

static int end(void **state)
{
    (void)state;
    hist_free(&one);
    history_free(&history);
    timeline_free(&timeline);
    return 0;
}

/* Adds what `one` holds as an interval of a log. */
static void add(const char *tag, uint64_t begin_ns, uint64_t length_ns)
{
    add_interval(&timeline, tag, 0, begin_ns, length_ns, &one);
    hist_reset(&one);
}

static void record(uint64_t value_ns, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hist_record(&one, value_ns);
}

static void make(void)
{
    timeline_sort(&timeline);
    assert_int_equal(history_make(&history, &timeline), 0);
}

static uint64_t count_of(const struct history_column *c)
{
    uint64_t n = 0;

    for (unsigned row = 0; row < HISTORY_ROWS; row++)
        n += c->counts[row];
    return n;
}

static void every_answer_is_in_the_row_of_its_time(void **state)
{
    (void)state;
    record(1000000, 30);
    record(20000000, 12);
    hist_record_beyond(&one, 5);
    add(NULL, 0, SECOND_NS);
    record(500, 45);
    add("send_lag", 0, SECOND_NS);
    make();
    assert_int_equal(history.n, 1);
    assert_int_equal(history.columns[0].n_answered, 42);
    assert_int_equal(history.columns[0].n_sent, 45);
    assert_int_equal(count_of(&history.columns[0]), 42);
    assert_int_equal(history.columns[0].counts[6 * HISTORY_ROWS_PER_DECADE], 30); /* 1 ms */
    assert_int_equal(history.most, 30);
    assert_int_equal(history.first_row, 6 * HISTORY_ROWS_PER_DECADE);
    assert_true(history_row_s(history.end_rows - 1) <= 0.020);
    assert_true(history_row_s(history.end_rows) > 0.020);
    assert_int_equal(history.columns[0].p99_ns, LATENCY_UNKNOWN);
}

static void second_without_answers_is_a_gap(void **state)
{
    (void)state;
    record(1000, 20);
    add(NULL, 0, SECOND_NS);
    hist_record_beyond(&one, 40);
    add(NULL, 2 * SECOND_NS, SECOND_NS);
    make();
    assert_int_equal(history.n, 3);
    assert_int_equal(history.columns[0].p50_ns, 1000);
    assert_true(history.columns[1].begin_s == 1 && history.columns[1].length_s == 0);
    assert_int_equal(history.columns[1].p50_ns, LATENCY_UNKNOWN);
    assert_int_equal(history.columns[2].p50_ns, HIST_BEYOND);
    assert_int_equal(history.columns[2].max_ns, LATENCY_UNKNOWN);
    assert_true(history.columns[2].begin_s == 2 && history.columns[2].length_s == 1);
}

static void times_of_a_column_are_those_of_its_answers(void **state)
{
    (void)state;
    record(1000, 1960);
    record(2000000, 40);
    add(NULL, 0, SECOND_NS);
    make();
    assert_int_equal(history.columns[0].p50_ns, 1000);
    assert_int_equal(hist_index(history.columns[0].p99_ns), hist_index(2000000));
    assert_int_equal(history.columns[0].max_ns, 2000000);
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-9);
}

/* Not a whole second; of different lengths by what was recorded. */
static void a_column_covers_all_of_its_intervals(void **state)
{
    (void)state;
    add(NULL, 0, 400000000);
    add(NULL, 1200000000, 500000000);
    add("send_lag", 1100000000, 300000000);
    make();
    assert_int_equal(history.n, 2);
    assert_near(history.columns[0].begin_s, 0);
    assert_near(history.columns[0].length_s, 0.4);
    assert_near(history.columns[1].begin_s, 1.1);
    assert_near(history.columns[1].length_s, 0.6);
}

/* The logs begin 0.49 s apart: the columns follow each other, and the rates add up. */
static void rates_of_two_logs_add_up(void **state)
{
    struct timeline logs[2] = {0};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        for (unsigned second = 0; second < 3; second++) {
            record(1000, 98);
            add_interval(&logs[i], NULL, i * 490000000, second * SECOND_NS, SECOND_NS, &one);
            hist_reset(&one);
        }
        assert_int_equal(timeline_join(&timeline, &logs[i], i), 0);
    }
    make();
    timeline_free(&logs[0]);
    timeline_free(&logs[1]);
    assert_int_equal(history.n, 3);
    for (size_t i = 0; i < history.n; i++) {
        const struct history_column *c = &history.columns[i];

        assert_int_equal(c->n_answered, 2 * 98);
        assert_true(c->begin_s == (double)i && c->length_s == 1);
    }
}

static void long_run_has_longer_columns_and_every_answer(void **state)
{
    uint64_t n = 0;

    (void)state;
    for (unsigned second = 0; second < 1000; second++) {
        record(1000 + second, 1);
        add(NULL, second * SECOND_NS, SECOND_NS);
    }
    make();
    assert_true(history.n <= HISTORY_MOST_COLUMNS);
    assert_true(history.column_s == 5);
    for (size_t i = 0; i < history.n; i++)
        n += count_of(&history.columns[i]);
    assert_int_equal(n, 1000);
    assert_int_equal(history.columns[7].n_answered, 5);
    assert_true(history.columns[7].begin_s == 35 && history.columns[7].length_s == 5);
}

static void times_far_apart_need_no_more_columns(void **state)
{
    (void)state;
    record(1000, 1);
    add(NULL, 0, SECOND_NS);
    record(1000, 1);
    add(NULL, 4000000000 * SECOND_NS, SECOND_NS);
    make();
    assert_true(history.n <= HISTORY_MOST_COLUMNS);
    assert_int_equal(history.columns[history.n - 1].n_answered, 1);
}

static void measurement_is_within_the_log(void **state)
{
    const uint64_t log_ns = 1000 * SECOND_NS;

    (void)state;
    record(1000, 1);
    add_interval(&timeline, NULL, log_ns, 0, SECOND_NS, &one);
    add_interval(&timeline, NULL, log_ns, 3 * SECOND_NS, SECOND_NS, &one);
    make();
    /* the clock was set: not the time of the log */
    history_set_measurement(&history, &timeline, log_ns + SECOND_NS, log_ns + 2 * SECOND_NS);
    assert_true(history.from_s == 0 && history.to_s == 0);
    history_set_measurement(&history, &timeline, log_ns - SECOND_NS, 0);
    assert_true(history.from_s == 0 && history.to_s == 0);
    history_set_measurement(&history, &timeline, log_ns + SECOND_NS / 4,
                            log_ns + 3 * SECOND_NS + SECOND_NS / 2);
    assert_near(history.from_s, 0.25);
    assert_near(history.to_s, 3.5);
}

static void nothing_has_no_columns(void **state)
{
    (void)state;
    make();
    assert_int_equal(history.n, 0);
    assert_int_equal(history.most, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_answer_is_in_the_row_of_its_time, start, end),
        cmocka_unit_test_setup_teardown(second_without_answers_is_a_gap, start, end),
        cmocka_unit_test_setup_teardown(times_of_a_column_are_those_of_its_answers, start, end),
        cmocka_unit_test_setup_teardown(a_column_covers_all_of_its_intervals, start, end),
        cmocka_unit_test_setup_teardown(rates_of_two_logs_add_up, start, end),
        cmocka_unit_test_setup_teardown(long_run_has_longer_columns_and_every_answer, start, end),
        cmocka_unit_test_setup_teardown(times_far_apart_need_no_more_columns, start, end),
        cmocka_unit_test_setup_teardown(measurement_is_within_the_log, start, end),
        cmocka_unit_test_setup_teardown(nothing_has_no_columns, start, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
