/* SPDX-License-Identifier: MIT
 * test_recordings: what is kept of a log and of rows. */
#include "report/recordings.h"

#include "file_steps.h"
#include "measure/hlog.h"
#include "measure/rows_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define S 1000000000ull

enum { INTERVALS = 3, VALUES = 10 };

static struct recordings all;

static void write_log(void)
{
    FILE *out = fopen(path, "we");
    struct hist h;

    assert_non_null(out);
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < VALUES; i++)
        hist_record(&h, 1000);
    hlog_begin(out, "test", "0", 1700000000 * S);
    for (uint64_t i = 0; i < INTERVALS; i++)
        assert_int_equal(hlog_interval(out, NULL, i * S, S, &h), 0);
    hist_free(&h);
    assert_int_equal(fclose(out), 0);
}

/* Writes the first lines of a log without intervals, and the next one without its end. */
static void write_cut_log(int n_lines, bool with_next)
{
    FILE *whole = tmpfile(), *out = fopen(path, "we");
    char line[256];

    assert_non_null(whole);
    assert_non_null(out);
    hlog_begin(whole, "test", "0", 1700000000 * S);
    rewind(whole);
    for (int i = 0; i < n_lines; i++) {
        assert_non_null(fgets(line, sizeof line, whole));
        fputs(line, out);
    }
    if (with_next) {
        assert_non_null(fgets(line, sizeof line, whole));
        fprintf(out, "%.20s", line);
    }
    fclose(whole);
    assert_int_equal(fclose(out), 0);
}

static void assert_totals(void)
{
    assert_int_equal(all.n, 1);
    assert_int_equal(metrics_find(&all.items[0].metrics, "response")->hist.count,
                     INTERVALS * VALUES);
}

static void loading_keeps_intervals(void **state)
{
    char *paths[] = {path};

    (void)state;
    write_log();
    assert_int_equal(recordings_load(&all, paths, 1), 0);
    assert_totals();
    assert_int_equal(all.items[0].timeline.n, INTERVALS);
    recordings_free(&all);
}

static void loading_totals_keeps_only_their_sum(void **state)
{
    char *paths[] = {path};

    (void)state;
    write_log();
    assert_int_equal(recordings_load_totals(&all, paths, 1), 0);
    assert_totals();
    assert_int_equal(all.items[0].timeline.n, 0);
    recordings_free(&all);
}

static void a_log_that_was_cut_within_its_head_is_no_empty_one(void **state)
{
    enum { HEAD_LINES = 5 };
    char *paths[] = {path};

    (void)state;
    for (int n = 0; n < HEAD_LINES; n++) {
        write_cut_log(n, true);
        assert_int_equal(recordings_load_totals(&all, paths, 1), -1);
        recordings_free(&all);
        if (n == 0)
            continue;
        write_cut_log(n, false);
        assert_int_equal(recordings_load_totals(&all, paths, 1), -1);
        recordings_free(&all);
    }
    write_cut_log(HEAD_LINES, false);
    assert_int_equal(recordings_load_totals(&all, paths, 1), 0);
    assert_int_equal(metrics_find(&all.items[0].metrics, "response")->hist.count, 0);
    recordings_free(&all);
}

static void loading_results_keeps_nothing_of_a_log(void **state)
{
    char *paths[] = {path};

    (void)state;
    write_log();
    assert_int_equal(recordings_load_results(&all, paths, 1), 0);
    assert_int_equal(all.items[0].timeline.n, 0);
    assert_null(metrics_find(&all.items[0].metrics, "response"));
    recordings_free(&all);
}

static const struct hist *send_lag_of_rows(const char *rows)
{
    char *paths[] = {path};
    FILE *out = fopen(path, "we");

    assert_non_null(out);
    fprintf(out, "%s%s", ROWS_HEADER, rows);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(recordings_load(&all, paths, 1), 0);
    return &metrics_find(&all.items[0].metrics, "send_lag")->hist;
}

static void rows_of_pushed_messages_have_a_send_lag(void **state)
{
    const struct hist *send_lag;

    (void)state;
    send_lag = send_lag_of_rows("A,1.000000000,0,1,,,60,237.223,176.750\n"
                                "A,2.000000000,0,2,,,60,100.000,2.000\n");
    assert_int_equal(send_lag->count, 2);
    assert_int_equal(send_lag->min_ns, 2000);
    assert_int_equal(send_lag->max_ns, 176750);
    recordings_free(&all);
}

/* Also of one whose answer comes first. */
static void rows_of_queries_have_the_send_lag_of_each_query_once(void **state)
{
    const struct hist *send_lag;

    (void)state;
    send_lag = send_lag_of_rows("A,1.000000000,0,1,,,60,61.000,1.000\n"
                                "Q,0.999940000,0,1,0,80,,,1.000\n"
                                "A,2.000000000,0,2,,,60,62.000,2.000\n"
                                "Q,1.999940000,0,2,0,80,,,2.000\n"
                                "Q,3.000000000,0,3,0,80,,,3.000\n");
    assert_int_equal(send_lag->count, 3);
    assert_int_equal(send_lag->min_ns, 1000);
    assert_int_equal(send_lag->max_ns, 3000);
    recordings_free(&all);
}

/* SIGHUP makes tcpclient continue in a new file, with its own header. */
static void joined_parts_of_rotated_rows_are_one_recording(void **state)
{
    const struct hist *send_lag;

    (void)state;
    send_lag = send_lag_of_rows("Q,0.999940000,0,1,0,80,,,1.000\n" ROWS_HEADER
                                "A,1.000000000,0,1,,,60,61.000,1.000\n" ROWS_HEADER
                                "Q,1.999940000,0,2,0,80,,,2.000\n");
    assert_int_equal(send_lag->count, 2);
    assert_int_equal(send_lag->max_ns, 2000);
    assert_int_equal(all.items[0].n_query_rows, 2);
    assert_int_equal(all.items[0].n_answer_rows, 1);
    recordings_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading_keeps_intervals),
        cmocka_unit_test(loading_totals_keeps_only_their_sum),
        cmocka_unit_test(a_log_that_was_cut_within_its_head_is_no_empty_one),
        cmocka_unit_test(loading_results_keeps_nothing_of_a_log),
        cmocka_unit_test(rows_of_pushed_messages_have_a_send_lag),
        cmocka_unit_test(rows_of_queries_have_the_send_lag_of_each_query_once),
        cmocka_unit_test(joined_parts_of_rotated_rows_are_one_recording),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
