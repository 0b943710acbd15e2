/* SPDX-License-Identifier: MIT
 * test_class_reader: what a result says of its classes, and what it leaves out. */
#include "report/class_reader.h"

#include "report/metrics.h"
#include "report/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct class_report classes[CLASS_READER_MOST];

static size_t read_text(const char *text, struct json_object **result)
{
    char error[RESULT_ERROR_BYTES];

    *result = result_parse_any(text, strlen(text), error);
    assert_non_null(*result);
    return class_reader_take(*result, classes);
}

static void figures_of_each_class_are_read(void **state)
{
    struct json_object *result;

    (void)state;
    assert_int_equal(
        read_text("{\"classes\": {\"a\": {\"clients\": 7, \"connections\": {\"connected\": 6, "
                  "\"proven\": 5, "
                  "\"live_at_end\": 4}, \"queries\": {\"scheduled\": 30, \"answered\": 20}, "
                  "\"rate\": {\"achieved_qps\": 2.5}}, \"b\": {\"clients\": 3}}, "
                  "\"latency_ns\": {\"response\": {\"count\": 99, \"over\": 0}, \"response:a\": "
                  "{\"count\": 20, "
                  "\"over\": 10, \"min\": 1, \"max\": 9, \"mean\": 5, \"stddev\": 1, \"p50\": 4}}}",
                  &result),
        2);
    assert_string_equal(classes[0].name, "a");
    assert_int_equal(classes[0].clients, 7);
    assert_int_equal(classes[0].connected, 6);
    assert_int_equal(classes[0].proven, 5);
    assert_int_equal(classes[0].live, 4);
    assert_int_equal(classes[0].scheduled, 30);
    assert_int_equal(classes[0].answered, 20);
    assert_true(classes[0].achieved_qps > 2.4 && classes[0].achieved_qps < 2.6);
    assert_int_equal(classes[0].response.count, 20);
    assert_int_equal(classes[0].response.over, 10);
    assert_int_equal(classes[0].response.max_ns, 9);
    assert_string_equal(classes[1].name, "b");
    assert_true(classes[1].connected == UINT64_MAX);
    assert_true(isnan(classes[1].achieved_qps));
    assert_int_equal(classes[1].response.count + classes[1].response.over, 0);
    result_free(result);
}

static void a_result_may_have_no_classes(void **state)
{
    static const char *const texts[] = {"{}", "{\"classes\": null}", "{\"classes\": {}}",
                                        "{\"classes\": 5}", "{\"classes\": {\"a\": null}}"};
    struct json_object *result;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i], &result), 0);
        result_free(result);
    }
}

/* Returns how many of the classes of a result are read. */
static size_t n_read_of(int n_classes)
{
    struct json_object *result;
    char text[2000] = "{\"classes\": {\"c0\": {}";
    size_t n = strlen(text), n_read;

    for (int i = 1; i < n_classes; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ", \"c%d\": {}", i);
    snprintf(text + n, sizeof text - n, "}}");
    n_read = read_text(text, &result);
    result_free(result);
    return n_read;
}

static void no_more_classes_are_read_than_there_is_room_for(void **state)
{
    (void)state;
    assert_int_equal(n_read_of(CLASS_READER_MOST + 5), CLASS_READER_MOST);
}

/* Each has two metrics, and a run has 15 more. */
static void all_classes_of_merged_runs_are_read(void **state)
{
    enum { MOST_CLASSES = (METRICS_MOST - 15) / 2 };

    (void)state;
    assert_int_equal(n_read_of(MOST_CLASSES), MOST_CLASSES);
}

static void metrics_of_classes_are_told_by_their_names(void **state)
{
    (void)state;
    assert_true(class_reader_is_of_class("response:a"));
    assert_false(class_reader_is_of_class("response"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_each_class_are_read),
        cmocka_unit_test(a_result_may_have_no_classes),
        cmocka_unit_test(no_more_classes_are_read_than_there_is_room_for),
        cmocka_unit_test(all_classes_of_merged_runs_are_read),
        cmocka_unit_test(metrics_of_classes_are_told_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
