/* SPDX-License-Identifier: MIT
 * test_result: figures of a result, and invalid results.
 * Linked with --wrap=json_tokener_new. */
#include "report/result.h"
#include "report/result_figures.h"

#include "measure/hist.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LATENCY(count)                                                                             \
    "{\"count\":" count ",\"over\":7,\"clamped\":1,\"min\":5,\"mean\":12.5,\"stddev\":2.25,"       \
    "\"max\":40,\"p50\":11,\"p90\":null,\"p99\":\"beyond\"}"
#define RESULT(head, law, verdict, count)                                                          \
    STARTED("2026-01-31T23:59:59.123Z", head, law, verdict, count)
#define STARTED(time, head, law, verdict, count)                                                   \
    "{" head ",\"started\":\"" time "\",\"seed\":18446744073709551615,"                            \
    "\"options\":{\"timeout\":0.25},\"connections\":{\"asked\":5,\"live_at_end\":4,"               \
    "\"connect_elapsed_s\":1.5},\"queries\":{\"scheduled\":9,\"sent\":8,\"unsent\":1,"             \
    "\"answered\":" count ",\"timeout\":1,\"error\":0,\"cancelled\":0},"                           \
    "\"rate\":{\"duration_s\":2},\"latency_ns\":{\"response\":" LATENCY(                           \
        count) ",\"net\":null},"                                                                   \
               "\"interrupted\":true,\"broken_law\":" law ",\"verdict\":\"" verdict "\"}"
#define HEAD "\"schema\":1,\"program\":\"tcpclient\""

static char error[RESULT_ERROR_BYTES];
static bool is_out_of_memory;

struct json_tokener *__real_json_tokener_new(void);
struct json_tokener *__wrap_json_tokener_new(void);

struct json_tokener *__wrap_json_tokener_new(void)
{
    return is_out_of_memory ? NULL : __real_json_tokener_new();
}

static struct json_object *parse(const char *text)
{
    error[0] = '\0';
    return result_parse(text, strlen(text), error);
}

static void figures_are_found(void **state)
{
    struct json_object *r = parse(RESULT(HEAD, "null", "VALID", "7") "\n");
    uint64_t value = 3, begin_ns, end_ns;
    double number;

    (void)state;
    assert_non_null(r);
    assert_true(result_u64(r, "seed", &value));
    assert_int_equal(value, UINT64_MAX);
    assert_true(result_u64(r, "queries.answered", &value));
    assert_int_equal(value, 7);
    assert_false(result_u64(r, "queries.nothing", &value));
    assert_false(result_u64(r, "queries.answered.more", &value));
    assert_false(result_u64(r, "verdict", &value));
    assert_int_equal(value, 7);
    assert_true(result_double(r, "options.timeout", &number) && number == 0.25);
    assert_string_equal(result_string(r, "verdict"), "VALID");
    assert_null(result_string(r, "seed"));
    assert_string_equal(result_text(r, "options"), "{\n  \"timeout\": 0.25\n}");
    assert_string_equal(result_text(r, "nothing"), "null");
    assert_int_equal(result_verdict(r), RESULT_VALID);
    assert_true(result_was_interrupted(r));
    assert_int_equal(result_timeout_ns(r), 250000000);
    assert_int_equal(result_timeout_of_ns(r, "response"), 250000000);
    assert_int_equal(result_timeout_of_ns(r, "service:a"), 250000000);
    assert_true(result_timeout_of_ns(r, "recovery") == LATENCY_NEVER);
    assert_true(result_timeout_of_ns(r, "net_x") == LATENCY_NEVER);
    result_span(r, &begin_ns, &end_ns);
    assert_int_equal(begin_ns, 1769903999123000000);
    assert_int_equal(end_ns - begin_ns, 3500000000);
    result_free(r);
}

static void latencies_are_found(void **state)
{
    struct json_object *r = parse(RESULT(HEAD, "null", "VALID", "7"));
    struct latency l;

    (void)state;
    assert_true(result_latency(r, "response", &l));
    assert_int_equal(l.count, 7);
    assert_int_equal(l.over, 7);
    assert_int_equal(l.max_ns, 40);
    assert_true(l.mean_ns == 12.5 && l.stddev_ns == 2.25);
    assert_int_equal(l.percentiles_ns[0], 11);
    assert_int_equal(l.percentiles_ns[1], LATENCY_UNKNOWN);
    assert_int_equal(l.percentiles_ns[3], HIST_BEYOND);
    assert_int_equal(l.percentiles_ns[5], LATENCY_UNKNOWN);
    assert_false(result_latency(r, "net", &l));
    assert_false(result_latency(r, "nothing", &l));
    result_free(r);
}

/* "[[],[],...]": n empty arrays in one.  Returns text to be freed. */
static char *arrays(size_t n)
{
    char *text = malloc(3 * n + 2), *at = text;

    assert_non_null(text);
    *at++ = '[';
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, i + 1 < n ? "[]," : "[]]");
    return text;
}

/* json-c takes 17 GB for 64 MiB of empty objects. */
static void more_parts_than_a_result_has_are_refused(void **state)
{
    char *few = arrays(1000), *many = arrays(RESULT_MOST_PARTS);
    struct json_object *all = result_parse_any(few, strlen(few), error);

    (void)state;
    assert_non_null(all);
    result_free(all);
    assert_null(result_parse_any(many, strlen(many), error));
    assert_string_equal(error, "more than 1000000 objects and arrays");
    free(few);
    free(many);
}

static void verdicts_are_told_apart(void **state)
{
    struct json_object *r = parse(RESULT(HEAD, "null", "SUSPECT", "7"));

    (void)state;
    assert_int_equal(result_verdict(r), RESULT_SUSPECT);
    result_free(r);
    r = parse(RESULT(HEAD, "\"sums\"", "VALID", "7"));
    assert_int_equal(result_verdict(r), RESULT_INVALID);
    result_free(r);
    r = parse(RESULT(HEAD, "null", "GLORIOUS", "7"));
    assert_int_equal(result_verdict(r), RESULT_SUSPECT);
    result_free(r);
}

/* Programs that wait for each other start at any time. */
static void a_span_is_that_of_the_measurement(void **state)
{
    struct json_object *r = parse(STARTED("2026-01-31T23:50:00.000Z",
                                          HEAD ",\"measured_from\":\"2026-01-31T23:59:59.123Z\"",
                                          "null", "VALID", "7"));
    uint64_t begin_ns, end_ns;

    (void)state;
    assert_non_null(r);
    result_span(r, &begin_ns, &end_ns);
    assert_int_equal(begin_ns, 1769903999123000000);
    assert_int_equal(end_ns - begin_ns, 2000000000);
    result_free(r);
}

static void a_span_is_within_64_bits(void **state)
{
    struct json_object *r = parse(STARTED("1969-12-31T23:59:59Z", HEAD, "null", "VALID", "7"));
    uint64_t begin_ns, end_ns;

    (void)state;
    result_span(r, &begin_ns, &end_ns);
    assert_int_equal(begin_ns, 0);
    assert_int_equal(end_ns, 3500000000);
    result_free(r);
    r = parse(STARTED("9999-12-31T23:59:59Z", HEAD, "null", "VALID", "7"));
    result_span(r, &begin_ns, &end_ns);
    assert_int_equal(begin_ns, 10000000000000000000u);
    assert_int_equal(end_ns - begin_ns, 3500000000);
    result_free(r);
}

static void figures_beyond_all_bounds_are_none(void **state)
{
    struct json_object *r = parse(RESULT(HEAD ",\"a\":1e999,\"b\":-1", "null", "VALID", "7"));
    struct json_object *latencies = json_tokener_parse(
        "{\"latency_ns\":{\"huge\":{\"count\":1,\"over\":0,\"min\":1,\"max\":1,\"mean\":1e300,"
        "\"stddev\":0},\"negative\":{\"count\":1,\"over\":0,\"min\":1,\"max\":1,\"mean\":-1,"
        "\"stddev\":0}}}");
    struct latency l;
    double value = 3;

    (void)state;
    assert_non_null(r);
    assert_false(result_double(r, "a", &value));
    assert_true(value == 3);
    assert_true(result_double(r, "b", &value) && value == -1);
    assert_false(result_latency(latencies, "huge", &l));
    assert_false(result_latency(latencies, "negative", &l));
    json_object_put(latencies);
    result_free(r);
}

static void join(void *arg, const char *name, const struct latency *l)
{
    char *names = arg;

    snprintf(names + strlen(names), 64 - strlen(names), "%s %d;", name, (int)l->over);
}

static void each_metric_that_has_times_is_passed(void **state)
{
    struct json_object *result = json_tokener_parse(
        "{\"latency_ns\":{\"response\":{\"count\":0,\"over\":3},\"recovery\":null,"
        "\"net\":{\"count\":0,\"over\":5}}}");
    char names[64] = "";

    (void)state;
    result_each_metric(result, join, names);
    assert_string_equal(names, "response 3;net 5;");
    json_object_put(result);
}

static void unit_of_a_sweep_is_that_of_its_first_search(void **state)
{
    struct json_object *search = json_tokener_parse("{\"search\":{\"unit\":\"q/s\"}}");
    struct json_object *sweep =
        json_tokener_parse("{\"search\":null,\"sweep\":{\"points\":[{\"search\":null},"
                           "{\"search\":{\"unit\":\"connections\"}}]}}");

    (void)state;
    assert_string_equal(result_capacity_unit(search), "q/s");
    assert_string_equal(result_capacity_unit(sweep), "connections");
    assert_null(result_capacity_unit(NULL));
    json_object_put(search);
    json_object_put(sweep);
}

static double sending_s(const char *text)
{
    struct json_object *result = json_tokener_parse(text);
    const double s = result_sending_s(result);

    json_object_put(result);
    return s;
}

static bool has_queries(const char *text)
{
    struct json_object *result = json_tokener_parse(text);
    const bool has = result_has_queries(result);

    json_object_put(result);
    return has;
}

/* A closed loop that was interrupted at once, and one in a pause, have none scheduled, either. */
static void a_run_without_a_rate_has_no_queries(void **state)
{
    (void)state;
    assert_false(has_queries("{\"options\":{\"loop\":\"open\"},\"queries\":{\"scheduled\":0},"
                             "\"rate\":{\"asked_qps\":null}}"));
    assert_true(has_queries("{\"options\":{\"loop\":\"closed\"},\"queries\":{\"scheduled\":0},"
                            "\"rate\":{\"asked_qps\":null}}"));
    assert_true(has_queries("{\"queries\":{\"scheduled\":0},\"rate\":{\"asked_qps\":0}}"));
    assert_true(has_queries("{\"queries\":{\"scheduled\":1},\"rate\":{\"asked_qps\":null}}"));
    assert_true(has_queries("{}"));
}

static void queries_take_the_schedule_or_longer_to_send(void **state)
{
    (void)state;
    assert_true(sending_s("{\"queries\":{\"sent\":900},\"rate\":{\"achieved_qps\":90,"
                          "\"duration_s\":8}}") == 10);
    assert_true(sending_s("{\"queries\":{\"sent\":0},\"rate\":{\"achieved_qps\":0,"
                          "\"duration_s\":8}}") == 8);
    assert_true(sending_s("{\"rate\":{\"achieved_qps\":null,\"duration_s\":8}}") == 8);
    assert_true(sending_s("{}") == 0);
}

static void invalid_results_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "truncated"},
        {"{\"schema\":1,\n\n", "line 3: truncated JSON"},
        {"{\n}}", "line 2: unexpected text after"},
        {"{\n\"a\":x}", "line 2:"},
        {"[]", "not a result of tcpclient"},
        {"\"17\"", "not a result of tcpclient"},
        {"{}", "not a result of tcpclient"},
        {"{\"schema\":1,\"program\":\"tcpserver\"}", "a result of tcpserver"},
        {"{\"schema\":2,\"program\":\"tcpclient\"}", "schema 2"},
        {"{\"schema\":-1,\"program\":\"tcpclient\"}", "not a result of tcpclient"},
        {"{\"schema\":1,\"program\":\"tcpclient\"}", "connections.asked is missing"},
        {"{" HEAD ",\"state\":\"paused\",\"verdict\":null}",
         "the run was still paused: expected the result of a run that has ended"},
        {"{" HEAD ",\"state\":\"ended\",\"verdict\":null}", "connections.asked is missing"},
        {"{" HEAD ",\"plan\":[]}", "a plan (--plan), not a result of a run"},
        {"{\"schema\":1,\"program\":\"tcpreport\",\"watched\":\"x\",\"samples\":[]}",
         "samples of tcpreport watch (for --watch), not a result of a run"},
        {RESULT(HEAD, "null", "VALID", "-7"), "queries.answered is missing"},
        {RESULT(HEAD, "null", "VALID", "\"7\""), "queries.answered is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(parse(cases[i].text));
        assert_non_null(strstr(error, cases[i].why));
    }
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    is_out_of_memory = true;
    assert_null(parse(RESULT(HEAD, "null", "VALID", "7")));
    is_out_of_memory = false;
    assert_string_equal(error, "out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_found),
        cmocka_unit_test(latencies_are_found),
        cmocka_unit_test(more_parts_than_a_result_has_are_refused),
        cmocka_unit_test(verdicts_are_told_apart),
        cmocka_unit_test(a_span_is_that_of_the_measurement),
        cmocka_unit_test(a_span_is_within_64_bits),
        cmocka_unit_test(figures_beyond_all_bounds_are_none),
        cmocka_unit_test(each_metric_that_has_times_is_passed),
        cmocka_unit_test(unit_of_a_sweep_is_that_of_its_first_search),
        cmocka_unit_test(a_run_without_a_rate_has_no_queries),
        cmocka_unit_test(queries_take_the_schedule_or_longer_to_send),
        cmocka_unit_test(invalid_results_are_refused),
        cmocka_unit_test(lack_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
