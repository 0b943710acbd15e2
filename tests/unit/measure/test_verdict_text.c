/* SPDX-License-Identifier: MIT
 * test_verdict_text: names, meanings and explanations of doubts. */
#include "measure/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_doubt_has_a_name_and_a_meaning(void **state)
{
    static const struct verdict_input in = {
        .connections_wanted = 100, .connections_live = 100, .scheduled = 10000};
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    for (int a = 0; a < VERDICT_N_REASONS; a++) {
        assert_true(strlen(verdict_meaning((enum verdict_reason)a)) > 20);
        if (a != VERDICT_HOST_NOISE)
            assert_non_null(strstr(verdict_explain(text, &in, (enum verdict_reason)a),
                                   verdict_meaning((enum verdict_reason)a)));
        for (int b = 0; b < a; b++)
            assert_string_not_equal(verdict_name((enum verdict_reason)a),
                                    verdict_name((enum verdict_reason)b));
    }
}

static void share_below_the_limit_is_not_printed_as_the_limit(void **state)
{
    struct verdict_input in = {.connections_wanted = 1, .connections_live = 1, .scheduled = 1996};
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.sent_on_schedule = 1994.0 / 1996; /* 99.8998 % */
    assert_non_null(strstr(verdict_explain(text, &in, VERDICT_GENERATOR_LIMITED), "99.89 % of"));
    in.sent_on_schedule = 0.819; /* times 10,000: a little less than 8190 */
    assert_non_null(strstr(verdict_explain(text, &in, VERDICT_GENERATOR_LIMITED), "81.90 % of"));
}

static void explanation_has_its_figure_first(void **state)
{
    static const struct verdict_input bad = {
        .connections_wanted = 1000,
        .connections_live = 900,
        .scheduled = 5000,
        .unsent = 12,
        .sent_on_schedule = 0.9874,
        .in_flight_early = 10,
        .in_flight_late = 431,
        .rows_dropped = 1234,
        .tcp_memory_pressures = 3,
        .out_of_ports = 4,
        .messages_missing = 6,
        .negative_latencies = 8,
        .cancelled = 9,
    };
    static const struct {
        enum verdict_reason reason;
        const char *figure;
    } cases[] = {
        {VERDICT_GENERATOR_LIMITED, "98.74 % of queries sent on schedule (limit 99.9 %): "},
        {VERDICT_NON_STATIONARY, "queries in flight grew from 10 to 431: "},
        {VERDICT_OUTPUT_LOST, "1,234 rows: "},
        {VERDICT_MEMORY_PRESSURE, "3 times: "},
        {VERDICT_CONNECTIONS_SHORT, "900 of 1,000 live: "},
        {VERDICT_UNSENT, "12 of 5,000 queries: "},
        {VERDICT_CHURN_PLATEAU, "4 connections: "},
        {VERDICT_PUSH_LOST, "6 messages: "},
        {VERDICT_CLOCKS_DISAGREE, "8 messages: "},
        {VERDICT_CUT_SHORT, "9 queries: "},
    };
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        verdict_explain(text, &bad, cases[i].reason);
        assert_memory_equal(text, verdict_name(cases[i].reason),
                            strlen(verdict_name(cases[i].reason)));
        assert_ptr_equal(strstr(text, cases[i].figure),
                         text + strlen(verdict_name(cases[i].reason)) + 2);
        assert_non_null(strstr(text, verdict_meaning(cases[i].reason)));
    }
}

static void message_is_neither_a_query_nor_a_connection(void **state)
{
    const struct verdict_input unfinished = {.unfinished = 2},
                               both = {.messages_missing = 1, .unfinished = 2};
    struct verdict_input in = {
        .has_latency = true, .n_latencies = 1000, .n_delayed_by_loss = 900, .lost_segments = 1};
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    assert_int_equal(verdict_judge(&unfinished) & (1u << VERDICT_PUSH_LOST),
                     1u << VERDICT_PUSH_LOST);
    assert_non_null(strstr(verdict_explain(text, &unfinished, VERDICT_PUSH_LOST),
                           "push-lost: 2 connections not read to the end: the server was late or "
                           "hung, the path to it broke, or the listener was too slow"));
    assert_non_null(
        strstr(verdict_explain(text, &both, VERDICT_PUSH_LOST), "1 message: pushed messages were"));
    assert_non_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE), "up to 900 queries"));
    in.of_messages = true;
    assert_non_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE), "up to 900 messages"));
}

/* A server that sends late is not a delay of the listener's host. */
static void late_messages_are_not_blamed_on_the_listener_alone(void **state)
{
    struct verdict_input in = {.has_latency = true, .n_latencies = 100000, .required = 4};
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    for (unsigned i = 0; i < VERDICT_N_PERCENTILES; i++)
        in.percentiles[i] = (struct verdict_percentile){3000000000u, i < 2 ? 0 : 2000000000u};
    assert_string_equal(verdict_headline(text, &in),
                        "SUSPECT (holds to p90; p95 and above include this host's own delays of "
                        "2.00 s)");
    in.of_messages = true;
    assert_string_equal(verdict_explain(text, &in, VERDICT_HOST_NOISE),
                        "host-noise: the server's send lag and this host's delay add up to 2.00 s "
                        "at p95 (limit 300 ms): see docs/noise.md");
    assert_string_equal(verdict_headline(text, &in),
                        "SUSPECT (holds to p90; p95 and above include the server's send lag and "
                        "this host's delays of 2.00 s)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_doubt_has_a_name_and_a_meaning),
        cmocka_unit_test(share_below_the_limit_is_not_printed_as_the_limit),
        cmocka_unit_test(explanation_has_its_figure_first),
        cmocka_unit_test(message_is_neither_a_query_nor_a_connection),
        cmocka_unit_test(late_messages_are_not_blamed_on_the_listener_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
