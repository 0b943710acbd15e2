/* SPDX-License-Identifier: MIT
 * test_latency: figures of a histogram, known and unknown; latency_report: how they are printed. */
#include "measure/latency.h"

#include "base/json.h"
#include "measure/latency_report.h"
#include "print_steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void figures_of(struct latency *l, unsigned n_values, uint64_t n_beyond)
{
    struct hist h;

    assert_int_equal(hist_init(&h), 0);
    for (unsigned i = 1; i <= n_values; i++)
        hist_record(&h, i * 1000);
    hist_record_beyond(&h, n_beyond);
    latency_of_hist(l, &h, NULL);
    hist_free(&h);
}

static void percentiles_are_known_beyond_or_unknown(void **state)
{
    struct latency l;

    (void)state;
    figures_of(&l, 980, 20);
    assert_int_equal(l.count, 980);
    assert_int_equal(l.over, 20);
    assert_int_equal(l.min_ns, 1000);
    assert_int_equal(l.max_ns, 980000);
    assert_true(l.mean_ns == 490500);
    assert_int_equal(hist_index(l.percentiles_ns[0]), hist_index(500000));
    assert_int_equal(hist_index(l.percentiles_ns[2]), hist_index(950000));
    assert_int_equal(l.percentiles_ns[3], HIST_BEYOND);     /* 20 of 1,000 have no answer */
    assert_int_equal(l.percentiles_ns[4], LATENCY_UNKNOWN); /* one value beyond p99.9 */
}

static void assert_line(const struct latency *l, const char *wanted)
{
    char *text;

    latency_report_text(print_open(), "x", LATENCY_REPORT_NAME, l, 5000000000);
    text = print_close();
    assert_string_equal(text, wanted);
    free(text);
}

static void line_shows_what_is_known(void **state)
{
    struct latency l;

    (void)state;
    figures_of(&l, 979, 21);
    assert_line(&l, "x             1.00 us    500 us    900 us   >5.00 s         -         -"
                    "    979 us    490 us\n");
    figures_of(&l, 0, 0);
    assert_line(&l, "");
    figures_of(&l, 0, 30);
    assert_line(&l, "x                   -   >5.00 s         -         -         -         -"
                    "         -         -\n");
    figures_of(&l, 30, 30);
    assert_line(&l, "x             1.00 us   30.0 us         -         -         -         -"
                    "   30.0 us   15.5 us\n");
}

static void sample_that_never_gets_a_value_is_not_compared_with_a_timeout(void **state)
{
    struct latency l;
    char *text;

    (void)state;
    figures_of(&l, 979, 21);
    latency_report_text(print_open(), "x", LATENCY_REPORT_NAME, &l, LATENCY_NEVER);
    text = print_close();
    assert_string_equal(text, "x             1.00 us    500 us    900 us     never         -"
                              "         -    979 us    490 us\n");
    free(text);
    latency_report_text(print_open(), "x", LATENCY_REPORT_NAME, &l, 0); /* it is unknown */
    text = print_close();
    assert_string_equal(text, "x             1.00 us    500 us    900 us  >timeout         -"
                              "         -    979 us    490 us\n");
    free(text);
}

static void long_name_does_not_shift_the_columns(void **state)
{
    const int width = latency_report_width(LATENCY_REPORT_NAME, "some.long.metric");
    struct latency l;
    FILE *out;
    char *text;

    (void)state;
    assert_int_equal(width, strlen("some.long.metric"));
    assert_int_equal(latency_report_width(width, "x"), width);
    figures_of(&l, 979, 21);
    out = print_open();
    latency_report_head(out, "Time", width);
    latency_report_text(out, "x", width, &l, 0);
    latency_report_holds(out, width, (bool[LATENCY_N_PERCENTILES + 1]){true});
    latency_report_text(out, "some.long.metric", width, &l, 0);
    text = print_close();
    assert_string_equal(
        text, "Time                   min       p50       p90       p99     p99.9    p99.99"
              "       max      mean\n"
              "x                  1.00 us    500 us    900 us  >timeout         -         -"
              "    979 us    490 us\n"
              "holds                            yes        no        no        no        no"
              "        no\n"
              "some.long.metric   1.00 us    500 us    900 us  >timeout         -         -"
              "    979 us    490 us\n");
    free(text);
}

static void the_line_of_what_holds_is_for_runs_where_something_does_not(void **state)
{
    bool holds[LATENCY_N_PERCENTILES + 1];
    char *text;

    (void)state;
    memset(holds, true, sizeof holds);
    latency_report_holds(print_open(), 0, holds);
    text = print_close();
    assert_string_equal(text, "");
    free(text);
    holds[LATENCY_N_PERCENTILES] = false; /* the maximum */
    latency_report_holds(print_open(), 0, holds);
    text = print_close();
    assert_non_null(strstr(text, "       yes        no\n"));
    free(text);
}

static void bars_are_as_long_as_the_counts(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, 1500);
    for (int i = 0; i < 500; i++)
        hist_record(&h, 3000);
    hist_record(&h, 6000); /* too few for a bar: no blank at the end of the line */
    latency_report_bars(print_open(), "T (upper bound, answers)", &h);
    text = print_close();
    assert_string_equal(text, "\nT (upper bound, answers)\n"
                              "   2.00 us        1,000 ########################################\n"
                              "   5.00 us          500 ####################\n"
                              "   10.0 us            1\n");
    free(text);
    hist_free(&h);
}

static void an_interval_without_values_has_a_line_and_bars_are_rounded(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, 1500);
    for (int i = 0; i < 513; i++) /* 20.52 characters */
        hist_record(&h, 7000);
    latency_report_bars(print_open(), "T", &h);
    text = print_close();
    assert_string_equal(text, "\nT\n"
                              "   2.00 us        1,000 ########################################\n"
                              "   5.00 us            0\n"
                              "   10.0 us          513 #####################\n");
    free(text);
    hist_free(&h);
}

static void a_value_at_an_edge_counts_as_above_it(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 1999);
    hist_record(&h, 2000);
    hist_record(&h, 2000);
    latency_report_bars(print_open(), "T", &h);
    text = print_close();
    assert_string_equal(text, "\nT\n"
                              "   2.00 us            1 ####################\n"
                              "   5.00 us            2 ########################################\n");
    free(text);
    hist_free(&h);
}

static void values_of_0_have_a_bar(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 0);
    latency_report_bars(print_open(), "T", &h);
    text = print_close();
    assert_string_equal(text, "\nT\n"
                              "      2 ns            1 ########################################\n");
    free(text);
    hist_free(&h);
}

static void json_has_every_key(void **state)
{
    struct latency l;
    struct json j;
    char *text;

    (void)state;
    figures_of(&l, 980, 20);
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    latency_report_json(&j, "x", &l);
    json_object_end(&j);
    text = print_close();
    assert_non_null(strstr(text, "\"count\": 980,\n    \"over\": 20,\n    \"clamped\": 0,\n"
                                 "    \"min\": 1000,\n    \"mean\": 490500,\n"));
    assert_non_null(strstr(text, "\"p99\": \"beyond\",\n    \"p999\": null,"));
    free(text);
}

static void json_of_no_value_has_no_moments(void **state)
{
    struct latency l;
    struct json j;
    char *text;

    (void)state;
    figures_of(&l, 0, 2000);
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    latency_report_json(&j, "x", &l);
    json_object_end(&j);
    text = print_close();
    assert_has(text, "\"over\": 2000,\n    \"clamped\": 0,\n    \"min\": null,\n"
                     "    \"mean\": null,\n    \"mean_error_90\": null,\n"
                     "    \"mean_error_95\": null,\n    \"stddev\": null,\n    \"max\": null,\n"
                     "    \"p50\": \"beyond\",");
    free(text);
}

/* Ten batches with the means 1 ... 10 us; see test_batch_means. */
static void mean_comes_with_both_intervals(void **state)
{
    struct batch_means batches = {0};
    struct latency l;
    struct json j;
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (unsigned i = 1; i <= 10; i++) {
        hist_record(&h, i * 1000);
        batch_means_add(&batches, 1, i * 1000);
    }
    latency_of_hist(&l, &h, &batches);
    hist_free(&h);
    assert_true(fabs(l.mean_error_90_ns - 1755.07) <= 0.01);
    assert_true(fabs(l.mean_error_95_ns - 2165.85) <= 0.01);
    assert_true(fabs(l.stddev_ns - 3027.65) <= 0.01);
    l.mean_error_90_ns = 90;
    l.mean_error_95_ns = 95;
    l.stddev_ns = 7;
    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    latency_report_json(&j, "x", &l);
    json_object_end(&j);
    text = print_close();
    assert_non_null(strstr(text, "\"mean_error_90\": 90,\n    \"mean_error_95\": 95,\n"
                                 "    \"stddev\": 7,\n    \"max\": 10000,"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_known_beyond_or_unknown),
        cmocka_unit_test(line_shows_what_is_known),
        cmocka_unit_test(sample_that_never_gets_a_value_is_not_compared_with_a_timeout),
        cmocka_unit_test(long_name_does_not_shift_the_columns),
        cmocka_unit_test(the_line_of_what_holds_is_for_runs_where_something_does_not),
        cmocka_unit_test(bars_are_as_long_as_the_counts),
        cmocka_unit_test(an_interval_without_values_has_a_line_and_bars_are_rounded),
        cmocka_unit_test(a_value_at_an_edge_counts_as_above_it),
        cmocka_unit_test(values_of_0_have_a_bar),
        cmocka_unit_test(json_has_every_key),
        cmocka_unit_test(json_of_no_value_has_no_moments),
        cmocka_unit_test(mean_comes_with_both_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
