/* SPDX-License-Identifier: MIT
 * test_recordings: what is kept of a log. */
#include "report/recordings.h"

#include "file_steps.h"
#include "measure/hlog.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading_keeps_intervals),
        cmocka_unit_test(loading_totals_keeps_only_their_sum),
        cmocka_unit_test(loading_results_keeps_nothing_of_a_log),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
