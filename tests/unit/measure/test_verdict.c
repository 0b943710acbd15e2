/* SPDX-License-Identifier: MIT
 * test_verdict: each limit from both sides. */
#include "measure/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define US 1000ull
#define MS 1000000ull

enum { P50, P90, P95, P99, P999, P9999, MAX };

/* A flawless run of 10,000 queries. */
static const struct verdict_input good = {
    .connections_wanted = 100,
    .connections_live = 100,
    .scheduled = 10000,
    .sent_on_schedule = 1,
    .has_latency = true,
    .n_latencies = 10000,
    .percentiles =
        {
            {80 * US, 30 * US},
            {120 * US, 40 * US},
            {150 * US, 50 * US},
            {900 * US, 200 * US},
            {1200 * US, 300 * US},
            {1500 * US, 400 * US},
            {2000 * US, 500 * US},
        },
    .required = P99,
    .has_growth = true,
    .in_flight_early = 100,
    .in_flight_late = 110,
    .has_steal = true,
    .steal_percent = 0.1,
};

#define GENERATOR (1u << VERDICT_GENERATOR_LIMITED)
#define GROWTH    (1u << VERDICT_NON_STATIONARY)
#define OUTPUT    (1u << VERDICT_OUTPUT_LOST)
#define NOISE     (1u << VERDICT_HOST_NOISE)
#define SHORT     (1u << VERDICT_CONNECTIONS_SHORT)
#define UNSENT    (1u << VERDICT_UNSENT)

static void good_run_is_valid(void **state)
{
    (void)state;
    assert_int_equal(verdict_judge(&good), 0);
}

static void schedule_has_to_be_kept_to_a_thousandth(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.sent_on_schedule = 0.9991;
    assert_int_equal(verdict_judge(&in), 0);
    in.sent_on_schedule = 0.9989;
    assert_int_equal(verdict_judge(&in), GENERATOR);
    in.scheduled = 0; /* no schedule to keep */
    assert_int_equal(verdict_judge(&in), 0);
}

static void percentile_holds_up_to_a_limit_or_a_tenth_of_it(void **state)
{
    static const struct {
        unsigned percentile;
        uint64_t response_ns, own_ns;
        bool holds;
    } cases[] = {
        {P50, 80 * US, 100 * US, true},   {P50, 80 * US, 101 * US, false},
        {P50, 1010 * US, 101 * US, true}, {P50, 1010 * US, 102 * US, false},
        {P90, 80 * US, 300 * US, true},   {P90, 80 * US, 301 * US, false},
        {P95, 80 * US, 500 * US, true},   {P95, 80 * US, 501 * US, false},
        {P99, 900 * US, 1000 * US, true}, {P99, 900 * US, 1001 * US, false},
        {P99, 20 * MS, 2 * MS, true},     {P99, 19 * MS, 2 * MS, false},
        {P99, HIST_BEYOND, 2 * MS, true}, /* slower than any delay of this host */
        {MAX, 1000 * MS, 100 * MS, true}, {MAX, 1000 * MS, 101 * MS, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_input in = good;

        in.percentiles[cases[i].percentile] =
            (struct verdict_percentile){cases[i].response_ns, cases[i].own_ns};
        assert_int_equal(verdict_holds(&in, cases[i].percentile), cases[i].holds);
        in.has_latency = false;
        assert_true(verdict_holds(&in, cases[i].percentile));
    }
}

/* Delays in the tail: --require decides whether they are a doubt. */
static void required_percentile_decides(void **state)
{
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    assert_int_equal(verdict_n_holding(&in), VERDICT_N_PERCENTILES);
    assert_string_equal(verdict_headline(text, &in), "VALID");
    in.percentiles[P999].own_ns = 1400 * US;
    assert_int_equal(verdict_n_holding(&in), P999);
    assert_int_equal(verdict_judge(&in), 0);
    assert_string_equal(verdict_headline(text, &in),
                        "VALID to p99; p99.9 includes this host's own delays of 1.40 ms");
    in.required = P999;
    assert_int_equal(verdict_judge(&in), NOISE);
    assert_string_equal(verdict_headline(text, &in),
                        "SUSPECT (holds to p99; p99.9 includes this host's own delays of 1.40 ms)");
    assert_string_equal(
        verdict_explain(text, &in, VERDICT_HOST_NOISE),
        "host-noise: this host's own delay is 1.40 ms at p99.9 (limit 1.00 ms); 0.1 % of CPU time "
        "stolen: see docs/noise.md");
    in.percentiles[P50].own_ns = 200 * US;
    assert_int_equal(verdict_n_holding(&in), 0);
    assert_string_equal(verdict_headline(text, &in), "SUSPECT (p50 does not hold)");
    for (unsigned i = 0; i < VERDICT_N_PERCENTILES; i++)
        in.percentiles[i].own_ns = 10000000 * US;
    assert_string_equal(verdict_headline(text, &in), "SUSPECT (no percentile holds)");
    in.percentiles[P50 + 1].own_ns = 0;
    assert_string_equal(verdict_headline(text, &in), "SUSPECT (p50 does not hold)");
    in.percentiles[P50 + 1].own_ns = 10000000 * US;
    in.percentiles[VERDICT_N_PERCENTILES - 1].own_ns = 0;
    assert_string_equal(verdict_headline(text, &in), "SUSPECT (p50 does not hold)");
    in.percentiles[VERDICT_N_PERCENTILES - 1].own_ns = 10000000 * US;
    in.percentiles[P50].own_ns = 0;
    assert_non_null(strstr(verdict_headline(text, &in), "; p90 and above include this host's"));
}

/* No percentile is above the maximum. */
static void the_maximum_alone_is_called_the_maximum(void **state)
{
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.percentiles[MAX].own_ns = 1010 * US;
    assert_string_equal(verdict_headline(text, &in),
                        "VALID to p99.99; the maximum includes this host's own delays of 1.01 ms");
    in = good;
    in.lost_segments = in.n_delayed_by_loss = 1;
    assert_string_equal(
        verdict_headline(text, &in),
        "VALID to p99.99; the maximum may include waits for packets lost on this host");
    assert_string_equal(verdict_explain(text, &in, VERDICT_HOST_NOISE),
                        "host-noise: up to 1 query waited for 1 packet lost on loopback: the "
                        "maximum is not the server's; 0.1 % of CPU time stolen: see "
                        "docs/noise.md");
}

/* Of 10,000 queries 100 are slower than p99 and 10 slower than p99.9. */
static void lost_packets_reach_the_percentiles_that_they_can(void **state)
{
    static const struct {
        uint64_t n_delayed;
        unsigned n_holding;
    } cases[] = {{0, VERDICT_N_PERCENTILES},
                 {1, P9999 + 1},
                 {2, P9999},
                 {10, P9999},
                 {11, P999},
                 {100, P999},
                 {101, P99},
                 {5000, P50 + 1},
                 {5001, P50}};
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_input in = good;

        in.lost_segments = 7;
        in.n_delayed_by_loss = cases[i].n_delayed;
        assert_int_equal(verdict_n_holding(&in), cases[i].n_holding);
        assert_int_equal(verdict_judge(&in), cases[i].n_delayed > 100 ? NOISE : 0);
        if (cases[i].n_delayed == 101)
            assert_non_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE),
                                   "up to 101 queries waited for 7 packets lost on loopback: p99 "
                                   "and above are not the server's"));
    }
}

/* Rank ceil(q n), even for few queries: p99 of 5 queries is the slowest. */
static void few_queries_are_judged_too(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.n_latencies = in.scheduled = 5;
    in.n_delayed_by_loss = 1;
    assert_int_equal(verdict_n_holding(&in), P90);
    assert_int_equal(verdict_judge(&in), NOISE);
    in.n_delayed_by_loss = 2; /* the third is the median */
    assert_true(verdict_holds(&in, P50));
    in.n_delayed_by_loss = 3;
    assert_false(verdict_holds(&in, P50));
}

static void stolen_time_and_a_slow_server_are_no_doubts_by_themselves(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.steal_percent = 20;
    for (unsigned i = P50; i <= MAX; i++)
        in.percentiles[i].response_ns = 370 * MS;
    assert_int_equal(verdict_judge(&in), 0);
    assert_int_equal(verdict_n_holding(&in), VERDICT_N_PERCENTILES);
}

/* Whatever the server answered, this host did not take it. */
static void a_datagram_that_this_host_dropped_is_a_doubt(void **state)
{
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.datagrams_dropped = 1234;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_DATAGRAMS_DROPPED);
    assert_string_equal(verdict_explain(text, &in, VERDICT_DATAGRAMS_DROPPED),
                        "datagrams-dropped: 1,234 datagrams: dropped by this host's kernel, not "
                        "lost by the server: use a larger --rcvbuf");
}

static void growing_queue_is_not_stationary(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.in_flight_early = 1000;
    in.in_flight_late = 1550;
    assert_int_equal(verdict_judge(&in), 0);
    in.in_flight_late = 1551;
    assert_int_equal(verdict_judge(&in), GROWTH);
    in.has_growth = false;
    assert_int_equal(verdict_judge(&in), 0);
    in = good;
    in.in_flight_early = 0; /* small numbers fluctuate */
    in.in_flight_late = 50;
    assert_int_equal(verdict_judge(&in), 0);
}

static void lost_rows_and_failed_output_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.rows_dropped = 1;
    assert_int_equal(verdict_judge(&in), OUTPUT);
    in.rows_dropped = 0;
    in.output_failed = true;
    assert_int_equal(verdict_judge(&in), OUTPUT);
}

static void memory_pressure_is_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.tcp_memory_pressures = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_MEMORY_PRESSURE);
}

static void missing_connections_and_unsent_queries_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.connections_live = 99;
    assert_int_equal(verdict_judge(&in), SHORT);
    in.unsent = 1;
    assert_int_equal(verdict_judge(&in), SHORT | UNSENT);
    in = good;
    in.out_of_ports = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CHURN_PLATEAU);
}

static void messages_that_are_missing_and_clocks_that_disagree_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.messages_missing = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_PUSH_LOST);
    in.unfinished = 1; /* as many */
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_PUSH_LOST);
    in = good;
    in.negative_latencies = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CLOCKS_DISAGREE);
}

/* Each reason: its figure, and the whole explanation. */
static void a_reason_is_explained_by_its_figure(void **state)
{
    static const struct {
        enum verdict_reason reason;
        const char *figure;
    } cases[] = {
        {VERDICT_GENERATOR_LIMITED,
         "generator-limited: 99.89 % of queries sent on schedule (limit 99.9 %): "},
        {VERDICT_NON_STATIONARY, "non-stationary: queries in flight grew from 1,000 to 2,000: "},
        {VERDICT_OUTPUT_LOST, "output-lost: 1,003 rows: "},
        {VERDICT_MEMORY_PRESSURE, "memory-pressure: 1,004 times: "},
        {VERDICT_DATAGRAMS_DROPPED, "datagrams-dropped: 1,005 datagrams: "},
        {VERDICT_CONNECTIONS_SHORT, "connections-short: 1,006 of 10,006 live: "},
        {VERDICT_UNSENT, "unsent: 1,007 of 10,000 queries: "},
        {VERDICT_CHURN_PLATEAU, "churn-plateau: 1,008 connections: "},
        {VERDICT_PUSH_LOST, "push-lost: 1,009 messages: "},
        {VERDICT_CLOCKS_DISAGREE, "clocks-disagree: 1,010 messages: "},
        {VERDICT_START_MISSED, "start-missed: "},
        {VERDICT_CUT_SHORT, "cut-short: 1,011 queries: "},
        {VERDICT_INCONCLUSIVE, "inconclusive: "},
    };
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES], expected[VERDICT_TEXT_BYTES];

    (void)state;
    in.interrupted = true; /* explains only that nothing was due */
    in.sent_on_schedule = 0.99899;
    in.in_flight_early = 1000;
    in.in_flight_late = 2000;
    in.rows_dropped = 1003;
    in.tcp_memory_pressures = 1004;
    in.datagrams_dropped = 1005;
    in.connections_live = 1006;
    in.connections_wanted = 10006;
    in.unsent = 1007;
    in.out_of_ports = 1008;
    in.messages_missing = 1009;
    in.unfinished = 7;
    in.negative_latencies = 1010;
    in.cancelled = 1011;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(expected, sizeof expected, "%s%s", cases[i].figure,
                 verdict_meaning(cases[i].reason));
        assert_string_equal(verdict_explain(text, &in, cases[i].reason), expected);
    }
    in.messages_missing = in.rows_dropped = 0;
    verdict_explain(text, &in, VERDICT_PUSH_LOST);
    assert_non_null(strstr(text, "push-lost: 7 connections not read to the end: "));
    verdict_explain(text, &in, VERDICT_OUTPUT_LOST);
    assert_non_null(strstr(text, "output-lost: the raw output is incomplete"));
}

static void stolen_time_is_mentioned_if_there_was_some(void **state)
{
    static const char stolen[] = " of CPU time stolen";
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.percentiles[P99].own_ns = 1400 * US;
    assert_non_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE), stolen));
    in.steal_percent = 0.09;
    assert_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE), stolen));
    in.steal_percent = 20;
    in.has_steal = false;
    assert_null(strstr(verdict_explain(text, &in, VERDICT_HOST_NOISE), stolen));
}

/* Shorter waits are not why the percentile does not hold. */
static void waits_for_the_connect_rate_are_named_if_they_can_be_the_cause(void **state)
{
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.has_steal = false;
    in.percentiles[P99].own_ns = 1400 * US;
    in.longest_hold_ns = 1000 * US;
    assert_string_equal(verdict_explain(text, &in, VERDICT_HOST_NOISE),
                        "host-noise: this host's own delay is 1.40 ms at p99 (limit 1.00 ms): see "
                        "docs/noise.md");
    in.longest_hold_ns = 1450000 * US;
    assert_string_equal(verdict_explain(text, &in, VERDICT_HOST_NOISE),
                        "host-noise: this host's own delay is 1.40 ms at p99 (limit 1.00 ms); "
                        "queries waited up to 1.45 s for --connect-rate: raise it: see "
                        "docs/noise.md");
}

static void start_that_was_missed_is_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.start_was_missed = true;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_START_MISSED);
}

static void queries_cut_off_by_the_end_are_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.cancelled = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CUT_SHORT);
}

static void run_that_measured_nothing_is_in_doubt_once(void **state)
{
    struct verdict_input in = good;
    char text[VERDICT_TEXT_BYTES];

    (void)state;
    in.measured_nothing = true;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_NOTHING_MEASURED);
    in.connections_wanted = 1000;
    in.connections_live = 1;
    assert_string_equal(verdict_explain(text, &in, VERDICT_NOTHING_MEASURED),
                        "nothing-measured: no query or message was due: measure for longer, or at "
                        "a higher rate");
    in.connections_wanted = in.connections_live = 0; /* none was wanted at the end */
    assert_null(strstr(verdict_explain(text, &in, VERDICT_NOTHING_MEASURED), "connection"));
    in.connections_wanted = 1000;
    in.connections_live = 1;
    in.of_messages = true;
    assert_string_equal(
        verdict_explain(text, &in, VERDICT_NOTHING_MEASURED),
        "nothing-measured: no message was due: use a longer --duration, or a server that pushes "
        "(tcpserver --push)");
    in.connections_live = 0;
    assert_string_equal(
        verdict_explain(text, &in, VERDICT_NOTHING_MEASURED),
        "nothing-measured: no query or message was due, as no connection was live: see the "
        "connection outcomes");
    in = good;
    in.measured_nothing = true;
    in.start_was_missed = true; /* for that reason */
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_START_MISSED);
    in.interrupted = true;
    assert_string_equal(
        verdict_explain(text, &in, VERDICT_NOTHING_MEASURED),
        "nothing-measured: the run was interrupted before a query or message was due");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_run_is_valid),
        cmocka_unit_test(schedule_has_to_be_kept_to_a_thousandth),
        cmocka_unit_test(percentile_holds_up_to_a_limit_or_a_tenth_of_it),
        cmocka_unit_test(required_percentile_decides),
        cmocka_unit_test(the_maximum_alone_is_called_the_maximum),
        cmocka_unit_test(lost_packets_reach_the_percentiles_that_they_can),
        cmocka_unit_test(few_queries_are_judged_too),
        cmocka_unit_test(stolen_time_and_a_slow_server_are_no_doubts_by_themselves),
        cmocka_unit_test(a_datagram_that_this_host_dropped_is_a_doubt),
        cmocka_unit_test(growing_queue_is_not_stationary),
        cmocka_unit_test(lost_rows_and_failed_output_are_doubts),
        cmocka_unit_test(memory_pressure_is_a_doubt),
        cmocka_unit_test(missing_connections_and_unsent_queries_are_doubts),
        cmocka_unit_test(messages_that_are_missing_and_clocks_that_disagree_are_doubts),
        cmocka_unit_test(a_reason_is_explained_by_its_figure),
        cmocka_unit_test(stolen_time_is_mentioned_if_there_was_some),
        cmocka_unit_test(waits_for_the_connect_rate_are_named_if_they_can_be_the_cause),
        cmocka_unit_test(start_that_was_missed_is_a_doubt),
        cmocka_unit_test(queries_cut_off_by_the_end_are_a_doubt),
        cmocka_unit_test(run_that_measured_nothing_is_in_doubt_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
