/* SPDX-License-Identifier: MIT
 * test_plot_time: the picture of the latency over time. */
#include "report/plot.h"

#include "interval_steps.h"
#include "report/recordings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct recording run = {.name = (char *)"run"};
static const struct recordings one = {&run, 1};

static char *script_over_time(void)
{
    assert_int_equal(plot_print(print_open(), &one, PLOT_TIME, "response", PLOT_PNG), 0);
    return print_close();
}

static void add_second(uint64_t begin_ns, const struct hist *h)
{
    add_interval(&run.timeline, NULL, 0, begin_ns, 1000000000, h);
}

static void percentile_among_the_unanswered_is_a_gap_over_time(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 970; i++)
        hist_record(&h, 1000);
    hist_record_beyond(&h, 30);
    add_second(0, &h);
    hist_reset(&h);
    hist_record_beyond(&h, 30); /* nothing was answered */
    add_second(1000000000, &h);
    text = script_over_time();
    assert_non_null(strstr(text, "\n0.500 1e-06 NaN 1e-06\n1.500 NaN NaN NaN\nEOD\n"));
    assert_non_null(strstr(text, "title 'p50'"));
    assert_null(strstr(text, "title 'p99'")); /* it would have no line */
    free(text);
    timeline_free(&run.timeline);
    hist_free(&h);
}

/* The log has no interval from 1.001 s to 3 s, as of a server that was silent. */
static void seconds_without_values_are_a_gap(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, 1000);
    add_second(1000000, &h);
    add_second(3000000000, &h);
    add_second(4490000000, &h); /* of another log */
    text = script_over_time();
    assert_non_null(strstr(text, "$d << EOD\n0.500 1e-06 1e-06 1e-06\n1.000 NaN NaN NaN\n"
                                 "3.499 1e-06 1e-06 1e-06\n4.989 1e-06 1e-06 1e-06\nEOD\n"));
    assert_non_null(strstr(text, "title 'p99'"));
    assert_non_null(strstr(text, "set title 'Latency over time'"));
    free(text);
    timeline_free(&run.timeline);
    hist_free(&h);
}

static void dots_of_a_long_run_are_small(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 20; i++)
        hist_record(&h, 1000);
    for (uint64_t second = 0; second < 150; second++)
        add_second(second * 1000000000, &h);
    text = script_over_time();
    assert_non_null(strstr(text, "linespoints lt 2 title 'maximum'"));
    free(text);
    add_second(150000000000, &h);
    text = script_over_time();
    assert_non_null(strstr(text, "linespoints lt 2 lw 1 ps 0.2 title 'maximum'"));
    assert_non_null(strstr(text, "linespoints lt 1 lw 1 ps 0.2 title 'p50'"));
    free(text);
    timeline_free(&run.timeline);
    hist_free(&h);
}

/* The logs of two runs, the first of which began 5 s after the epoch. */
static void intervals_of_all_runs_are_counted_from_the_first(void **state)
{
    static struct recording both[2];
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 1000);
    for (uint64_t i = 0; i < 2; i++) {
        both[i].name = (char *)"run";
        add_interval(&both[i].timeline, NULL, 5000000000, i * 2000000000, 1000000000, &h);
        add_interval(&both[i].timeline, "service", 5000000000, i * 2000000000, 1000000000, &h);
    }
    assert_int_equal(
        plot_print(print_open(), &(struct recordings){both, 2}, PLOT_TIME, "response", PLOT_PNG),
        0);
    text = print_close();
    assert_has(text, "set title 'Latency of all runs over time'");
    assert_has(text,
               "$d << EOD\n0.500 NaN NaN 1e-06\n1.000 NaN NaN NaN\n2.500 NaN NaN 1e-06\nEOD\n");
    free(text);
    assert_int_equal(
        plot_print(print_open(), &(struct recordings){both, 1}, PLOT_TIME, "service", PLOT_PNG), 0);
    text = print_close();
    assert_has(text, "$d << EOD\n0.500 NaN NaN 1e-06\nEOD\n");
    free(text);
    for (int i = 0; i < 2; i++)
        timeline_free(&both[i].timeline);
    hist_free(&h);
}

static void a_recording_of_another_metric_has_no_intervals(void **state)
{
    const char *name = NULL;
    struct hist h;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 1000);
    add_interval(&run.timeline, "service", 0, 0, 1000000000, &h);
    assert_has(plot_lacks(&one, PLOT_TIME, "response", &name), "no intervals of this metric: ");
    timeline_free(&run.timeline);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentile_among_the_unanswered_is_a_gap_over_time),
        cmocka_unit_test(seconds_without_values_are_a_gap),
        cmocka_unit_test(dots_of_a_long_run_are_small),
        cmocka_unit_test(intervals_of_all_runs_are_counted_from_the_first),
        cmocka_unit_test(a_recording_of_another_metric_has_no_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
