/* SPDX-License-Identifier: MIT
 * test_figure: figures with their units; what is unknown or absurd is no figure. */
#include "report/figure.h"

#include "measure/latency.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static char text[FIGURE_TEXT_BYTES];
static struct json_object *result;

static int parse(void **state)
{
    (void)state;
    result = json_tokener_parse("{\"n\": 1234567, \"no_time\": 0, \"rate\": 12345.6, \"slow\": "
                                "0.25, \"s\": 12.5, \"bytes\": 2048, "
                                "\"bad\": \"x\", \"less\": -1, \"huge\": 1e300, \"none\": null, "
                                "\"queries\": {\"scheduled\": 3000000, \"answered\": 2999999}}");
    return result == NULL;
}

static int forget(void **state)
{
    (void)state;
    json_object_put(result);
    return 0;
}

static void figures_have_separators_and_units(void **state)
{
    (void)state;
    assert_string_equal(figure_count(text, result, "n"), "1,234,567");
    assert_string_equal(figure_rate(text, result, "rate"), "12,346 q/s");
    assert_string_equal(figure_rate(text, result, "slow"), "0.25 q/s");
    assert_string_equal(figure_seconds(text, result, "s"), "12.5 s");
    assert_string_equal(figure_seconds(text, result, "no_time"), "0 s");
    assert_string_equal(figure_bytes(text, result, "bytes"), "2.00 KiB");
    assert_string_equal(figure_number(text, 0), "0");
    assert_string_equal(figure_number(text, 999.5), "999.5");
    assert_string_equal(figure_number(text, 999.94), "999.9");
    assert_string_equal(figure_number(text, 999.96), "1,000");
    assert_string_equal(figure_number(text, 1000), "1,000");
}

/* With the words of the options that set the rate. */
static const char *requested(const char *qps, const char *options)
{
    char json[200];
    struct json_object *of;
    const char *found;

    snprintf(json, sizeof json, "{\"rate\": {\"asked_qps\": %s}, \"options\": {%s}}", qps, options);
    of = json_tokener_parse(json);
    assert_non_null(of);
    found = figure_requested(text, of);
    json_object_put(of);
    return found;
}

static void requested_rate_is_that_of_the_summary(void **state)
{
    static const char *const steps[] = {
        "\"rate\": 0, \"schedule\": \"1s:0-9\"", "\"rate\": 0, \"conn-schedule\": \"1s:1-9\"",
        "\"rate\": 0, \"stdin\": true", "\"rate\": 9, \"stdin-rateslope\": true",
        "\"rate\": 500 " /* changed by request */};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_string_equal(requested("307.692307", steps[i]), "307.7");
        assert_string_equal(requested("0.123456", steps[i]), "0.123456");
    }
    assert_string_equal(requested("1000", steps[0]), "1000");
    assert_string_equal(requested("2.25", "\"rate\": 2.25"), "2.25");
    assert_string_equal(requested("666.666666", "\"rate\": 0, \"interval\": 0.03"), "666.667");
    assert_null(requested("null", "\"rate\": 0"));
}

static void what_is_unknown_or_absurd_is_no_figure(void **state)
{
    static const char *const paths[] = {"none", "missing", "bad", "less", "huge"};

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_null(figure_count(text, result, paths[i]));
        assert_null(figure_rate(text, result, paths[i]));
        assert_null(figure_seconds(text, result, paths[i]));
        assert_null(figure_bytes(text, result, paths[i]));
    }
}

static void outcomes_are_those_of_the_summary(void **state)
{
    (void)state;
    assert_string_equal(figure_outcome(text, "run/finished"), "run: finished");
    assert_string_equal(figure_outcome(text, "a/b/c"), "a: b/c");
    assert_string_equal(figure_outcome(text, "of a later version"), "of a later version");
    assert_string_equal(figure_outcome(text, ""), "");
    assert_string_equal(figure_outcome(text, "0123456789012345678901234567890123456789/012345678"),
                        "0123456789012345678901234567890123456789: 01234");
}

static void finding_has_its_reason(void **state)
{
    char finding[FIGURE_FINDING_BYTES];

    (void)state;
    assert_string_equal(figure_finding(finding, "bad", "p99<10ms"), "bad: p99<10ms");
    assert_string_equal(figure_finding(finding, "good", NULL), "good");
}

static void load_has_the_unit_of_its_search(void **state)
{
    struct json_object *search = json_tokener_parse(
        "{\"unit\": \"connections\", \"lower\": 1, \"upper\": 2500, \"capacity\": null}");

    (void)state;
    assert_string_equal(figure_load(text, search, search, "lower"), "1 connection");
    assert_string_equal(figure_load(text, search, search, "upper"), "2,500 connections");
    assert_null(figure_load(text, search, search, "capacity"));
    json_object_put(search);
}

static void answer_has_its_reason_and_its_limit(void **state)
{
    struct json_object *search = json_tokener_parse(
        "{\"status\": \"inconclusive\", \"reason\": \"unconfirmed\", \"limited_by\": \"lost=0\"}");
    struct json_object *found = json_tokener_parse("{\"status\": \"found\", \"reason\": null}");
    char answer[FIGURE_FINDING_BYTES];

    (void)state;
    assert_string_equal(figure_answer(answer, search), "inconclusive, unconfirmed: lost=0");
    assert_string_equal(figure_answer(answer, found), "found");
    assert_string_equal(figure_answer(answer, NULL), "not reached");
    json_object_put(search);
    json_object_put(found);
}

static const char *reason_of(const char *json)
{
    static char reason[FIGURE_FINDING_BYTES];
    struct json_object *search = json_tokener_parse(json);
    const char *found = figure_reason(search);

    snprintf(reason, sizeof reason, "%s", found != NULL ? found : "-");
    json_object_put(search);
    return reason;
}

static void reason_of_a_search_is_told_in_words(void **state)
{
    (void)state;
    assert_string_equal(reason_of("{\"reason\": \"no-connection\"}"),
                        "no connection became usable");
    assert_string_equal(reason_of("{\"reason\": \"void-trials\", \"limited_by\": \"host-noise\"}"),
                        "the client's host, not the server, was the limit");
    assert_string_equal(reason_of("{\"reason\": \"void-trials\", \"limited_by\": \"connections\"}"),
                        "connections were missing before the trials");
    assert_string_equal(reason_of("{\"reason\": \"stopped\"}"), "stopped");
    assert_string_equal(reason_of("{\"reason\": null}"), "-");
}

static void end_of_a_search_with_an_answer_is_in_words(void **state)
{
    struct json_object *search = json_object_new_object();

    (void)state;
    assert_null(figure_cut(search)); /* of an earlier version */
    json_object_object_add(search, "cut_by", NULL);
    assert_null(figure_cut(search));
    json_object_object_add(search, "cut_by", json_object_new_string("time"));
    assert_string_equal(figure_cut(search), "time ran out");
    json_object_object_add(search, "cut_by", json_object_new_string("server-gone"));
    assert_string_equal(figure_cut(search),
                        "the server stopped answering after this was confirmed");
    json_object_object_add(search, "cut_by", json_object_new_string("stopped"));
    assert_string_equal(figure_cut(search), "stopped");
    json_object_put(search);
}

static void bound_is_named_if_more_is_known_than_which_host(void **state)
{
    struct json_object *search = json_tokener_parse("{\"bound_by\": \"max-connections\"}");
    struct json_object *server = json_tokener_parse("{\"bound_by\": \"server\"}");
    struct json_object *none = json_tokener_parse("{\"bound_by\": null}");

    (void)state;
    assert_string_equal(figure_bound(search), "the --max-connections limit was reached");
    assert_null(figure_bound(server));
    assert_null(figure_bound(none));
    json_object_put(search);
    json_object_put(server);
    json_object_put(none);
}

/* 10 of 999 queries are too few to be 1 %. */
static void percentile_of_a_trial_without_a_value_is_unknown_or_among_the_unanswered(void **state)
{
    struct json_object *few = json_tokener_parse(
        "{\"scheduled\": 999, \"p50_ns\": 1500, \"p99_ns\": null, \"drained\": true}");
    struct json_object *enough =
        json_tokener_parse("{\"scheduled\": 1000, \"p99_ns\": null, \"drained\": true}");
    struct json_object *undrained =
        json_tokener_parse("{\"scheduled\": 1000, \"p99_ns\": null, \"drained\": false}");

    (void)state;
    assert_string_equal(figure_trial_latency(text, few, "p50_ns", 1, 2, 5000000000), "1.50 us");
    assert_null(figure_trial_latency(text, few, "p99_ns", 99, 100, 5000000000));
    assert_string_equal(figure_trial_latency(text, enough, "p99_ns", 99, 100, 5000000000),
                        ">5.00 s");
    assert_string_equal(figure_trial_latency(text, enough, "p99_ns", 99, 100, 0), ">timeout");
    assert_null(figure_trial_latency(text, undrained, "p99_ns", 99, 100, 5000000000));
    json_object_object_del(enough, "scheduled");
    assert_null(figure_trial_latency(text, enough, "p99_ns", 99, 100, 5000000000));
    json_object_put(few);
    json_object_put(enough);
    json_object_put(undrained);
}

static void latency_among_the_unanswered_is_more_than_the_timeout(void **state)
{
    (void)state;
    assert_string_equal(figure_latency(text, 1500, 0), "1.50 us");
    assert_string_equal(figure_latency(text, HIST_BEYOND, 200000000), ">200 ms");
    assert_string_equal(figure_latency(text, HIST_BEYOND, 0), "unanswered");
    assert_string_equal(figure_latency(text, HIST_BEYOND, LATENCY_NEVER), "never");
    assert_null(figure_latency(text, LATENCY_UNKNOWN, 200000000));
}

static void share_of_answers_is_rounded_down(void **state)
{
    struct json_object *nothing_due =
        json_tokener_parse("{\"queries\": {\"scheduled\": 0, \"answered\": 0}}");

    (void)state;
    assert_string_equal(figure_answered(text, result), "99.9999 %");
    assert_null(figure_answered(text, NULL));
    assert_null(figure_answered(text, nothing_due));
    json_object_put(nothing_due);
}

static void change_is_never_minus_0(void **state)
{
    char change[16];

    (void)state;
    snprintf(change, sizeof change, "%+.2f", figure_change(-0.00004, 2));
    assert_string_equal(change, "+0.00");
    snprintf(change, sizeof change, "%+.2f", figure_change(-0.00006, 2));
    assert_string_equal(change, "-0.01");
    snprintf(change, sizeof change, "%+.1f", figure_change(0.2949, 1));
    assert_string_equal(change, "+29.5");
    snprintf(change, sizeof change, "%+.3f", figure_change(-10, 3));
    assert_string_equal(change, "-1000.000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_are_those_of_the_summary),
        cmocka_unit_test(figures_have_separators_and_units),
        cmocka_unit_test(requested_rate_is_that_of_the_summary),
        cmocka_unit_test(what_is_unknown_or_absurd_is_no_figure),
        cmocka_unit_test(finding_has_its_reason),
        cmocka_unit_test(load_has_the_unit_of_its_search),
        cmocka_unit_test(answer_has_its_reason_and_its_limit),
        cmocka_unit_test(reason_of_a_search_is_told_in_words),
        cmocka_unit_test(end_of_a_search_with_an_answer_is_in_words),
        cmocka_unit_test(bound_is_named_if_more_is_known_than_which_host),
        cmocka_unit_test(percentile_of_a_trial_without_a_value_is_unknown_or_among_the_unanswered),
        cmocka_unit_test(latency_among_the_unanswered_is_more_than_the_timeout),
        cmocka_unit_test(share_of_answers_is_rounded_down),
        cmocka_unit_test(change_is_never_minus_0),
    };

    return cmocka_run_group_tests(tests, parse, forget);
}
