/* SPDX-License-Identifier: MIT
 * test_run_group: the values of runs that are compared. */
#include "report/run_group.h"

#include "report/result.h"

#include <json-c/json.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* A result of this timeout and p50. */
#define RUN(timeout, p50)                                                                          \
    "{\"schema\":1,\"program\":\"tcpclient\",\"started\":\"2026-01-31T23:59:59.123Z\",\"seed\":1," \
    "\"options\":{" timeout "},\"connections\":{\"asked\":5,\"live_at_end\":4,"                    \
    "\"connect_elapsed_s\":1.5},\"queries\":{\"scheduled\":9,\"sent\":8,\"unsent\":1,"             \
    "\"answered\":2,\"timeout\":6,\"error\":0,\"cancelled\":0},"                                   \
    "\"rate\":{\"duration_s\":2},\"latency_ns\":{\"response\":{\"count\":2,\"over\":6,"            \
    "\"clamped\":0,"                                                                               \
    "\"min\":5,\"mean\":12.5,\"stddev\":2.25,\"max\":40,\"p50\":" p50 "},"                         \
    "\"connect\":{\"count\":2,\"over\":6,\"clamped\":0,"                                           \
    "\"min\":5,\"mean\":12.5,\"stddev\":2.25,\"max\":40,\"p50\":" p50 "}},"                        \
    "\"interrupted\":false,\"broken_law\":null,\"verdict\":\"VALID\"}"

/* Returns the value of a row; -1: none. */
static double value_of(const char *text, const struct run_metric *row)
{
    char error[RESULT_ERROR_BYTES] = "";
    struct json_object *result = result_parse(text, strlen(text), error);
    double value = 0;

    assert_string_equal(error, "");
    assert_non_null(result);
    if (!run_metric_value(result, row, &value))
        value = -1;
    result_free(result);
    return value;
}

static double p50_of(const char *text)
{
    return value_of(text, &run_metrics[0]);
}

static void percentile_of_answers_is_its_time(void **state)
{
    (void)state;
    assert_true(p50_of(RUN("\"timeout\":0.25", "11")) == 11);
    assert_true(p50_of(RUN("", "11")) == 11);
    assert_true(p50_of(RUN("\"timeout\":0.25", "null")) < 0);
}

static void percentile_of_the_unanswered_is_the_timeout(void **state)
{
    (void)state;
    assert_true(p50_of(RUN("\"timeout\":0.25", "\"beyond\"")) == 250e6);
}

/* The timeout of queries says nothing about connections. */
static void a_connection_that_was_not_established_has_no_timeout(void **state)
{
    static const struct run_metric connect_p50 = {.metric = "connect", .percentile = "p50"};

    (void)state;
    assert_true(value_of(RUN("\"timeout\":0.25", "11"), &connect_p50) == 11);
    assert_true(value_of(RUN("\"timeout\":0.25", "\"beyond\""), &connect_p50) < 0);
}

static void percentile_of_the_unanswered_is_unknown_without_a_timeout(void **state)
{
    (void)state;
    assert_true(p50_of(RUN("", "\"beyond\"")) < 0);
    assert_true(p50_of(RUN("\"timeout\":null", "\"beyond\"")) < 0);
}

static void value_beyond_all_bounds_is_none(void **state)
{
    static const struct run_metric capacity = {.of_search = true};
    static const char *const values[] = {"1e300", "-5", "1e999"};
    char text[100];

    (void)state;
    assert_true(p50_of(RUN("\"timeout\":0.25", "18446744073709551600")) < 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct json_object *result;
        double value;

        snprintf(text, sizeof text, "{\"search\":{\"capacity\":%s}}", values[i]);
        result = json_tokener_parse(text);
        assert_non_null(result);
        assert_false(run_metric_value(result, &capacity, &value));
        json_object_put(result);
    }
}

/* Returns the capacity of a result; -1: none. */
static double capacity_of(const char *text)
{
    static const struct run_metric capacity = {.of_search = true};
    struct json_object *result = json_tokener_parse(text);
    double value;

    assert_non_null(result);
    if (!run_metric_value(result, &capacity, &value))
        value = -1;
    json_object_put(result);
    return value;
}

#define POINT(capacity) "{\"search\":{\"capacity\":" capacity "}}"

static void capacity_of_a_sweep_is_the_geometric_mean(void **state)
{
    (void)state;
    assert_true(capacity_of(POINT("8000")) == 8000);
    assert_true(fabs(capacity_of("{\"sweep\":{\"points\":[" POINT("1000") "," POINT(
                         "2000") "," POINT("4000") "]}}") -
                     2000) < 1e-6);
    assert_true(capacity_of("{\"sweep\":{\"points\":[" POINT("1000") "," POINT("null") "]}}") < 0);
    assert_true(capacity_of("{\"sweep\":{\"points\":[" POINT("1000") "," POINT("0") "]}}") < 0);
    assert_true(capacity_of("{\"sweep\":{\"points\":[]}}") < 0);
}

static void searches_without_a_limit_are_counted(void **state)
{
    static const char *const texts[] = {
        "{\"search\":{\"status\":\"at-least\"}}", "{\"search\":{\"status\":\"found\"}}",
        ("{\"sweep\":{\"points\":[{\"search\":{\"status\":\"found\"}},"
         "{\"search\":{\"status\":\"at-least\"}},{\"search\":{\"status\":\"at-least\"}}]}}"),
        "{}"};
    struct recording runs[4] = {0};
    const struct recording *valid[4];
    const struct run_group g = {.valid = valid, .n_valid = 4};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        valid[i] = &runs[i];
        runs[i].result = json_tokener_parse(texts[i]);
        assert_non_null(runs[i].result);
    }
    assert_int_equal(run_group_n_at_least(&g), 2);
    for (size_t i = 0; i < 4; i++)
        json_object_put(runs[i].result);
}

/* The order of runs with these directories, after run_group_by_directory(): their positions before.
 */
static void check_order(const char *const *directories, const size_t *sorted, size_t n)
{
    struct recording runs[7] = {0};
    const struct recording *valid[7];
    struct run_group g = {.valid = valid, .n_valid = n};

    for (size_t i = 0; i < n; i++) {
        runs[i].directory = (char *)directories[i];
        valid[i] = &runs[i];
    }
    run_group_by_directory(&g);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(valid[i], &runs[sorted[i]]);
}

static void runs_of_a_directory_are_moved_together(void **state)
{
    static const char *const directories[] = {"/b", "/a", "/", "/b", "/a/b", "/a", "/b"};
    static const size_t sorted[] = {0, 3, 6, 1, 5, 2, 4};
    static const char *const together[] = {"/b", "/b", "/b", "/a", "/a", "/", "/a/b"};
    static const size_t as_they_are[] = {0, 1, 2, 3, 4, 5, 6};

    (void)state;
    check_order(directories, sorted, 7);
    check_order(together, as_they_are, 7);
    check_order(directories, sorted, 0);
}

static void runs_of_a_directory_are_counted(void **state)
{
    static struct recording runs[] = {
        {.directory = (char *)"/a"}, {.directory = (char *)"/a"}, {.directory = (char *)"/ab"}};
    const struct recording *valid[] = {&runs[0], &runs[1], &runs[2]};
    const struct run_group g = {.valid = valid, .n_valid = 3};

    (void)state;
    assert_int_equal(run_group_n_in_directory(&g, 0), 2);
    assert_int_equal(run_group_n_in_directory(&g, 1), 1);
    assert_int_equal(run_group_n_in_directory(&g, 2), 1);
}

/* The histograms of the runs of a year of nights, a quarter of a MB each, would not fit. */
static void only_results_are_kept(void **state)
{
    char names[2][32], *files[2];
    struct run_group g = {0};
    int fds[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        fds[i] = memfd_create("run", MFD_CLOEXEC);
        assert_int_equal(dprintf(fds[i], "%s\n", RUN("\"timeout\":1", "11")),
                         strlen(RUN("\"timeout\":1", "11")) + 1);
        snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", fds[i]);
        files[i] = names[i];
    }
    assert_int_equal(run_group_load(&g, files, 2), 0);
    assert_int_equal(g.n_valid, 2);
    for (size_t i = 0; i < g.n_valid; i++) {
        assert_non_null(g.valid[i]->result);
        assert_int_equal(g.valid[i]->metrics.n, 0);
    }
    run_group_free(&g);
    close(fds[0]);
    close(fds[1]);
}

static struct json_object *search_in(const char *unit)
{
    struct json_object *result = json_tokener_parse("{\"search\":{}}");

    assert_non_null(result);
    if (unit != NULL)
        json_object_object_add(result_find(result, "search"), "unit", json_object_new_string(unit));
    return result;
}

static bool have_one_unit(const char *first, const char *second, const char *third)
{
    struct recording runs[] = {
        {.result = search_in(first)}, {.result = search_in(second)}, {.result = search_in(third)}};
    const struct recording *valid[] = {&runs[0], &runs[1], &runs[2]};
    const struct run_group g = {.valid = valid, .n_valid = 3};
    const bool one = run_group_has_unit(&runs[0], &g);

    for (int i = 0; i < 3; i++)
        json_object_put(runs[i].result);
    return one;
}

static void capacities_of_different_units_are_told_apart(void **state)
{
    (void)state;
    assert_true(have_one_unit("q/s", "q/s", "q/s"));
    assert_false(have_one_unit("q/s", "q/s", "connections"));
    assert_false(have_one_unit("q/s", "connections", "q/s"));
    assert_true(have_one_unit("q/s", NULL, "q/s")); /* no capacity is compared */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentile_of_answers_is_its_time),
        cmocka_unit_test(percentile_of_the_unanswered_is_the_timeout),
        cmocka_unit_test(a_connection_that_was_not_established_has_no_timeout),
        cmocka_unit_test(percentile_of_the_unanswered_is_unknown_without_a_timeout),
        cmocka_unit_test(value_beyond_all_bounds_is_none),
        cmocka_unit_test(capacity_of_a_sweep_is_the_geometric_mean),
        cmocka_unit_test(searches_without_a_limit_are_counted),
        cmocka_unit_test(runs_of_a_directory_are_moved_together),
        cmocka_unit_test(runs_of_a_directory_are_counted),
        cmocka_unit_test(only_results_are_kept),
        cmocka_unit_test(capacities_of_different_units_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
