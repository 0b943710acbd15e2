/* SPDX-License-Identifier: MIT
 * test_total: runs that are added up, of the files of each. */
#include "report/total.h"

#include "measure/hlog.h"
#include "measure/rows_format.h"
#include "report/recordings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000ull

static char directory[] = "/tmp/tcpscaler_total.XXXXXX";
static char paths[4][64];
static unsigned n_paths;
static struct recordings all;
static struct total total;

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static int setup(void **state)
{
    (void)state;
    n_paths = 0;
    all = (struct recordings){0};
    total = (struct total){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    total_free(&total);
    recordings_free(&all);
    for (unsigned i = 0; i < n_paths; i++)
        unlink(paths[i]);
    return 0;
}

static FILE *add_file(const char *name)
{
    FILE *out;

    snprintf(paths[n_paths], sizeof paths[0], "%s/%s", directory, name);
    out = fopen(paths[n_paths++], "we");
    assert_non_null(out);
    return out;
}

/* A log of a second with n values of value_ns each, for each tag. */
static void write_log(const char *name, unsigned n, uint64_t value_ns, const char *const *tags)
{
    FILE *out = add_file(name);

    hlog_begin(out, "test", "0", 1700000000 * S);
    for (; *tags != NULL; tags++) {
        struct hist h;

        assert_int_equal(hist_init(&h), 0);
        for (unsigned i = 0; i < n; i++)
            hist_record(&h, value_ns);
        assert_int_equal(hlog_interval(out, **tags != '\0' ? *tags : NULL, 0, S, &h), 0);
        hist_free(&h);
    }
    assert_int_equal(fclose(out), 0);
}

/* Rows of queries that were sent 2 ms late; the first ones got an answer after 1 ms. */
static void write_rows(const char *name, unsigned n_queries, unsigned n_answers)
{
    FILE *out = add_file(name);

    fputs(ROWS_HEADER, out);
    for (unsigned i = 0; i < n_queries + n_answers; i++) {
        const struct rows_record row = {.time_ns = S + i,
                                        .lag_ns = S / 500,
                                        .span_ns = i < n_queries ? 0 : S / 1000,
                                        .type = i < n_queries ? 'Q' : 'A'};
        char text[ROWS_LINE_BYTES];

        fwrite(text, 1, rows_format(text, &row, 0, 1700000000 * S), out);
    }
    assert_int_equal(fclose(out), 0);
}

static int load(void)
{
    char *given[4];

    for (unsigned i = 0; i < n_paths; i++)
        given[i] = paths[i];
    return recordings_load(&all, given, n_paths);
}

static void make(void)
{
    assert_int_equal(load(), 0);
    assert_int_equal(total_make(&total, &all), 0);
}

static uint64_t count(const char *metric)
{
    const struct metric *m = metrics_find(&total.metrics, metric);

    return m != NULL ? m->hist.count : 0;
}

static uint64_t beyond(const char *metric)
{
    return metrics_find(&total.metrics, metric)->hist.beyond;
}

static void values_of_all_logs_are_added_up(void **state)
{
    static const char *const tags[] = {"", "service", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_log("b.hlog", 5, 9000, tags);
    make();
    assert_int_equal(all.n, 2);
    assert_int_equal(count("response"), 8);
    assert_int_equal(count("service"), 8);
    assert_int_equal(metrics_find(&total.metrics, "response")->hist.max_ns, 9000);
    assert_int_equal(metrics_find(&all.items[0].metrics, "response")->batches.n, 1);
    /* both are of one second */
    assert_int_equal(metrics_find(&total.metrics, "response")->batches.n, 1);
    assert_null(total.result);
}

static void a_query_without_an_answer_lasts_beyond_all_bounds(void **state)
{
    (void)state;
    write_rows("a.csv", 5, 3);
    write_rows("b.csv", 4, 4);
    make();
    assert_int_equal(count("response"), 7);
    assert_int_equal(beyond("response"), 2);
    assert_int_equal(beyond("service"), 2);
    assert_int_equal(metrics_find(&total.metrics, "response")->hist.max_ns, S / 1000 + S / 500);
    assert_int_equal(metrics_find(&total.metrics, "service")->hist.max_ns, S / 1000);
    assert_int_equal(count("send_lag"), 9);
    assert_int_equal(beyond("send_lag"), 0);
}

/* Rows have no intervals. */
static void without_all_logs_there_are_no_batches(void **state)
{
    static const char *const tags[] = {"", "service", "send_lag", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_rows("b.csv", 4, 4);
    make();
    assert_int_equal(count("response"), 7);
    assert_int_equal(metrics_find(&total.metrics, "response")->batches.n, 0);
}

static void what_a_run_did_not_measure_is_not_that_of_all(void **state)
{
    static const char *const tags[] = {"", "service", "connect", NULL}, *const fewer[] = {"", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_log("b.hlog", 5, 9000, fewer);
    make();
    assert_int_equal(count("response"), 8);
    assert_int_equal(count("service"), 0);
    assert_int_equal(metrics_find(&total.metrics, "service")->batches.n, 0);
    assert_int_equal(count("connect"), 3); /* not of answers: the other run may have none */
}

static void a_run_without_answers_lacks_nothing(void **state)
{
    static const char *const tags[] = {"", "service", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_rows("b.csv", 2, 0);
    make();
    assert_int_equal(count("service"), 3);
    assert_int_equal(beyond("service"), 2);
}

/* Its log has an interval without values, and none of another metric. */
static void an_empty_log_lacks_nothing(void **state)
{
    static const char *const tags[] = {"", "service", NULL}, *const fewer[] = {"", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_log("b.hlog", 0, 0, fewer);
    make();
    assert_int_equal(count("service"), 3);
}

/* Nothing was measured. */
static void a_log_without_intervals_costs_the_others_no_batches(void **state)
{
    static const char *const tags[] = {"", "service", NULL}, *const none[] = {NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    write_log("b.hlog", 0, 0, none);
    make();
    assert_int_equal(count("response"), 3);
    assert_int_equal(metrics_find(&total.metrics, "response")->batches.n, 1);
    assert_true(all.items[1].has_log);
}

/* It ends within its last line. */
static void assert_truncated_is_refused(void)
{
    FILE *f = fopen(paths[0], "r+e");

    assert_non_null(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    assert_int_equal(ftruncate(fileno(f), ftell(f)), 0);
    fclose(f);
    assert_int_equal(load(), -1);
    recordings_free(&all);
    unlink(paths[--n_paths]);
}

static void a_truncated_file_is_refused(void **state)
{
    static const char *const tags[] = {"", NULL};

    (void)state;
    write_log("a.hlog", 3, 1000, tags);
    assert_truncated_is_refused();
    write_rows("b.csv", 2, 2);
    assert_truncated_is_refused();
    write_rows("b.csv", 2, 2); /* the control */
    assert_int_equal(load(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_of_all_logs_are_added_up),
        TEST(a_query_without_an_answer_lasts_beyond_all_bounds),
        TEST(without_all_logs_there_are_no_batches),
        TEST(what_a_run_did_not_measure_is_not_that_of_all),
        TEST(a_run_without_answers_lacks_nothing),
        TEST(an_empty_log_lacks_nothing),
        TEST(a_log_without_intervals_costs_the_others_no_batches),
        TEST(a_truncated_file_is_refused),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
