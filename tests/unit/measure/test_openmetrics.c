/* SPDX-License-Identifier: MIT
 * test_openmetrics: the exact text of both formats, and reading single values. */
#include "measure/openmetrics.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_some(FILE *out, const char *accept)
{
    struct openmetrics m;

    openmetrics_init(&m, out, accept);
    openmetrics_counter(&m, "x_accepted", "Connections.", 5);
    openmetrics_family(&m, OPENMETRICS_COUNTER, "x_closed", "By worker.");
    openmetrics_u64(&m, "worker", "0", 2);
    openmetrics_u64(&m, "worker", "1", 1ull << 63);
    openmetrics_gauge(&m, "x_unknown", "Not known.", UINT64_MAX);
    openmetrics_family(&m, OPENMETRICS_GAUGE, "x_rate", "Asked.");
    openmetrics_double(&m, 0.1);
    openmetrics_end(&m);
}

static char *text_for(const char *accept)
{
    write_some(print_open(), accept);
    return print_close();
}

static void clients_that_accept_openmetrics_get_it(void **state)
{
    char *text = text_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5");

    (void)state;
    assert_string_equal(text, "# TYPE x_accepted counter\n# HELP x_accepted Connections.\n"
                              "x_accepted_total 5\n"
                              "# TYPE x_closed counter\n# HELP x_closed By worker.\n"
                              "x_closed_total{worker=\"0\"} 2\n"
                              "x_closed_total{worker=\"1\"} 9223372036854775808\n"
                              "# TYPE x_unknown gauge\n# HELP x_unknown Not known.\n"
                              "# TYPE x_rate gauge\n# HELP x_rate Asked.\n"
                              "x_rate 0.1\n# EOF\n");
    free(text);
}

static void other_clients_get_the_older_text_format(void **state)
{
    char *text = text_for("*/*"), *none = text_for(NULL);

    (void)state;
    assert_string_equal(text, none);
    assert_non_null(strstr(text, "# TYPE x_accepted_total counter\n"
                                 "# HELP x_accepted_total Connections.\nx_accepted_total 5\n"));
    assert_null(strstr(text, "# EOF"));
    free(text);
    free(none);
}

static void histogram_is_cumulative(void **state)
{
    struct openmetrics m;
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 5000);
    hist_record_beyond(&h, 4);
    hist_record(&h, 15000000);
    hist_record(&h, 15000000);
    hist_record(&h, 20000000000);
    openmetrics_init(&m, print_open(), NULL);
    openmetrics_hist(&m, "x_seconds", "Time.", &h);
    text = print_close();
    for (const char *const *want =
             (const char *const[]){
                 "x_seconds_bucket{le=\"1e-05\"} 1\n", "x_seconds_bucket{le=\"0.01\"} 1\n",
                 "x_seconds_bucket{le=\"0.02\"} 3\n", "x_seconds_bucket{le=\"10.0\"} 3\n",
                 "x_seconds_bucket{le=\"+Inf\"} 8\nx_seconds_count 8\n"
                 "x_seconds_sum 20.030005\n",
                 NULL};
         *want != NULL; want++)
        assert_non_null(strstr(text, *want));
    free(text);
    hist_free(&h);
}

/* A value just below a bound is the first that its bucket has, one just above is not in it. */
static void every_bound_is_what_its_label_says(void **state)
{
    static const double parts[] = {0.998, 1.002};
    const char *line;
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct openmetrics m;
        struct hist h;
        unsigned n = 0;
        double bound_s;

        assert_int_equal(hist_init(&h), 0);
        for (uint64_t ns = 10000; ns <= 10000000000; ns *= 10)
            for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
                hist_record(&h, (uint64_t)(parts[i] * digit * (double)ns));
        openmetrics_init(&m, print_open(), NULL);
        openmetrics_hist(&m, "x_seconds", "Time.", &h);
        text = print_close();
        for (line = text; (line = strstr(line, "le=\"")) != NULL && line[4] != '+'; n++) {
            char *rest;

            bound_s = strtod(line + 4, &rest);
            assert_true(bound_s > 0 && bound_s <= 10);
            line = strchr(line, '}');
            assert_int_equal(strtoull(line + 1, NULL, 10), i == 0 ? n + 1 : n);
        }
        assert_int_equal(n, 19);
        free(text);
        hist_free(&h);
    }
}

static void figures_are_read_back(void **state)
{
    char *text = text_for(NULL);
    uint64_t sum = 77;

    (void)state;
    assert_int_equal(openmetrics_sum(text, "x_accepted_total", &sum), 0);
    assert_int_equal(sum, 5);
    assert_int_equal(openmetrics_sum(text, "x_closed_total", &sum), 0);
    assert_true(sum == (1ull << 63) + 2);
    assert_int_equal(openmetrics_sum(text, "x_unknown", &sum), -1);
    assert_int_equal(openmetrics_sum(text, "x_accepted", &sum), -1);
    assert_int_equal(openmetrics_sum("", "x", &sum), -1);
    assert_int_equal(openmetrics_sum("x_total{a=\"b\" 5\n", "x_total", &sum), -1);
    assert_int_equal(openmetrics_sum("x_total{a\nx_total 1\n", "x_total", &sum), 0);
    assert_int_equal(sum, 1);
    assert_int_equal(openmetrics_sum("x_total{a\n 1\n", "x_total", &sum), -1);
    assert_int_equal(openmetrics_sum("x_total 0\n", "x_total", &sum), 0);
    assert_int_equal(sum, 0);
    assert_int_equal(openmetrics_sum("x_total 1.5\nx_total -1\nx_total", "x_total", &sum), -1);
    free(text);
}

static void times_keep_their_nanoseconds(void **state)
{
    char value[OPENMETRICS_VALUE_BYTES] = "before";
    struct openmetrics m;
    char *text;

    (void)state;
    openmetrics_init(&m, print_open(), NULL);
    openmetrics_gauge(&m, "x_start", "Not the one.", 1);
    openmetrics_family(&m, OPENMETRICS_GAUGE, "x_start_seconds", "Start.");
    openmetrics_seconds(&m, 1769903999012345678);
    text = print_close();
    assert_has(text, "\nx_start_seconds 1769903999.012345678\n");
    assert_int_equal(openmetrics_value(text, "x_start_seconds", value), 0);
    assert_string_equal(value, "1769903999.012345678");
    assert_int_equal(openmetrics_value(text, "x_end_seconds", value), -1);
    assert_int_equal(openmetrics_value("x 12345678901234567890123456789012\nx 7", "x", value), 0);
    assert_string_equal(value, "7"); /* the one that there is room for */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_that_accept_openmetrics_get_it),
        cmocka_unit_test(other_clients_get_the_older_text_format),
        cmocka_unit_test(histogram_is_cumulative),
        cmocka_unit_test(every_bound_is_what_its_label_says),
        cmocka_unit_test(figures_are_read_back),
        cmocka_unit_test(times_keep_their_nanoseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
