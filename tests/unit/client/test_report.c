/* SPDX-License-Identifier: MIT
 * test_report: every figure of a made-up result is in its place in the text and the JSON. */
#include "report_steps.h"

#include <errno.h>

static void summary_has_every_figure_in_its_place(void **state)
{
    char *text = text_of(report_text, *state);

    assert_has(
        text,
        "tcpclient 9.9: dns to 192.0.2.1:53, 100 connections, 100 q/s on average, as controlled");
    assert_has(text, "measured for 10.0 s, paused for 2.00 s");
    assert_has(text, "97 accepted, 1 refused, 96 active; 1 connected here, but not accepted");
    assert_has(text, "100 requested, 99 connected, 98 proven, 1 half-open");
    assert_has(text, "98 live at the end; opened in 500 ms (198/s)");
    assert_has(text, "1,003 scheduled, 1,000 sent, 980 answered (97.7068 % success)\n");
    assert_has(text, "15 timed out, 5 failed, 0 cancelled, 3 unsent");
    assert_has(text, "\nAnswers      960 NOERROR, 11 NXDOMAIN, 6 RCODE15, 2 truncated, 3 echoed\n");
    assert_has(text,
               "\nTime              min       p50       p90       p99     p99.9    p99.99       "
               "max      mean\n");
    assert_has(text, "response       700 us    701 us    701 us   >5.00 s         -");
    assert_has(text, "service       60.0 us   60.5 us   60.9 us   >5.00 s");
    assert_has(text, "send lag      5.00 us   5.50 us   5.90 us   5.99 us");
    assert_has(text, "connect       4.00 ms   4.00 ms");
    assert_has(text, "\nResponse time histogram (upper bound, answers)\n");
    assert_has(text,
               "           1  connect: refused\n              -> nothing listens on that port");
    assert_has(text, "           5  receive: closed by peer");
    assert_has(
        text,
        "\nholds                       yes       yes       yes        no       yes       yes\n");
    assert_has(text, "Verdict      SUSPECT (holds to p99; p99.9 includes this host's own "
                     "delays of 1.20 ms)\n             unsent: 3 of 1,003 queries: ");
    assert_null(strstr(text, "TLS"));
    free(text);
}

/* As a double, 99.96 is a little less. */
static void success_is_rounded_down_in_decimal(void **state)
{
    struct made_up *m = *state;
    struct tally_queries *q = &m->result.tally.queries[TALLY_MEASURED];
    char *text;

    tally_add(&q->scheduled, 5000 - tally_get(&q->scheduled));
    tally_add(&q->answered, 4998 - tally_get(&q->answered));
    text = text_of(report_text, m);
    assert_has(text, "4,998 answered (99.96 % success)\n");
    free(text);
}

/* Answers set the rate. */
static void closed_loop_requests_no_rate(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.loop = CLIENT_LOOP_CLOSED;
    text = text_of(report_text, m);
    assert_has(text, "\nRate         100.0 q/s achieved, 100.3 scheduled, measured for 10.0 s");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"asked_qps\": null");
    free(text);
}

/* It was paused throughout. */
static void a_mean_rate_of_0_is_a_rate(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->about.rate_qps = 0;
    text = text_of(report_text, m);
    assert_has(text, "\nQueries ");
    assert_has(text, " scheduled, 0 requested, measured for 10.0 s, paused for 2.00 s\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"asked_qps\": 0,");
    free(text);
    m->about.has_queries = false;
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nQueries "));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"asked_qps\": null,");
    free(text);
}

static void small_rate_is_not_rounded_to_nothing(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.scheduled_ns = m->result.sent_ns = 50000000 * MS;
    text = text_of(report_text, m);
    assert_has(text, "\nRate         0.02 q/s achieved, 0.0201 scheduled, ");
    free(text);
}

static void a_load_that_never_began_has_no_rate(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.scheduled_ns = m->result.sent_ns = 0;
    text = text_of(report_text, m);
    assert_null(strstr(text, "achieved"));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"achieved_qps\": null,");
    free(text);
}

/* A server stalled in the warm-up only. */
static void counts_of_all_queries_say_so(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_add(&t->queries[TALLY_WARMUP].scheduled, 500);
    tally_add(&t->connections.with_timeouts, 7);
    m->result.connections_unresponsive = 2;
    tally_add(&t->queries[TALLY_MEASURED].blocked, 11);
    tally_add(&t->queries[TALLY_MEASURED].rerouted, 12);
    tally_add(&t->queries[TALLY_MEASURED].cancelled, 13);
    tally_add(&t->late, 3);
    tally_add(&t->duplicate, 4);
    tally_add(&t->unknown_id, 5);
    text = text_of(report_text, m);
    assert_has(text, " 15 timed out, 5 failed, 13 cancelled, 3 unsent\n");
    assert_has(
        text,
        " all timeouts (warm-up included) are on 7 connections, 2 unresponsive at the end: their "
        "last queries timed out\n");
    assert_has(text, " 11 waited for a free id, 12 moved to another connection\n");
    assert_has(text, " stray answers (warm-up included): 3 late, 4 duplicate, 5 with unknown id\n");
    assert_has(text, " 500 more in the warm-up, not included\n");
    free(text);
}

/* No query of the load timed out; those that proved connections did. */
static void late_answers_to_proofs_are_said_to_be_included(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_add(&t->queries[TALLY_PROBE].timeout, 34);
    tally_add(&t->late, 34);
    text = text_of(report_text, m);
    assert_has(text, " stray answers (queries that prove connections included): 34 late,");
    free(text);
    tally_add(&t->queries[TALLY_WARMUP].scheduled, 500);
    text = text_of(report_text, m);
    assert_has(text,
               " stray answers (warm-up and queries that prove connections included): 34 late,");
    free(text);
}

/* Neither number is taken from the other. */
static void as_many_of_one_kind_as_of_another_are_reported(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_add(&t->queries[TALLY_MEASURED].blocked, 2);
    tally_add(&t->queries[TALLY_MEASURED].rerouted, 2);
    tally_add(&t->late, 1);
    tally_add(&t->duplicate, 2);
    tally_add(&t->unknown_id, 1);
    text = text_of(report_text, m);
    assert_has(text, " 2 waited for a free id, 2 moved to another connection\n");
    assert_has(text, " stray answers: 1 late, 2 duplicate, 1 with unknown id\n");
    free(text);
}

static void one_of_a_kind_is_singular(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    m->result.connections_requested = m->result.n_workers = 1;
    tally_add(&t->connections.with_retransmits, 1);
    tally_add(&t->connections.with_timeouts, 1);
    tally_sub(&t->connections.retransmits, 179);
    tally_add(&t->connections.syn_retransmits, 1);
    m->config.socket.datagrams = true;
    tally_add(&t->datagrams.malformed, 1);
    m->result.verdict.tcp_memory_pressures = 1;
    m->result.doubts |= 1u << VERDICT_MEMORY_PRESSURE;
    text = text_of(report_text, *state);
    assert_has(text, "to 192.0.2.1:53, 1 connection, 100 q/s");
    assert_has(text, "\n  1 thread, pacing");
    assert_has(text,
               " 1 retransmit on 1 connection, 171 spurious\n             1 SYN retransmit in all "
               "attempts\n");
    assert_has(text, " all timeouts are on 1 connection, 0 unresponsive at the end\n");
    assert_has(text, "UDP          1 datagram malformed,");
    assert_has(text, "memory-pressure: 1 time: ");
    free(text);
}

static void json_has_every_figure_in_its_place(void **state)
{
    char *text = text_of(report_json, *state);

    assert_has(text, "\"schema\": 1");
    assert_has(text, "\"command\": [\n    \"tcpclient\",\n    \"--qname=a b\\\"\"\n  ]");
    assert_has(text,
               "\"half_open\": 1,\n    \"with_timeouts\": 0,\n    \"unresponsive_at_end\": 0,\n"
               "    \"unresponsive_unacknowledged\": 0,\n"
               "    \"failed\": 1,\n    \"wanted_at_end\": 100,\n"
               "    \"live_at_end\": 98,");
    assert_has(text, "\"connect_rate_per_s\": 198,");
    assert_has(text, "\"scheduled\": 1003,\n    \"sent\": 1000,\n    \"unsent\": 3,\n"
                     "    \"answered\": 980,\n    \"timeout\": 15,\n    \"error\": 5,");
    assert_has(text, "\"receive/closed by peer\": 5");
    assert_has(text, "\"answers\": {\n    \"rcodes\": {\n      \"NOERROR\": 960,\n"
                     "      \"NXDOMAIN\": 11,\n      \"RCODE15\": 6\n    },\n"
                     "    \"echoed\": 3,\n    \"truncated\": 2\n  },");
    assert_has(
        text,
        "\"rate\": {\n    \"asked_qps\": 100,\n    \"achieved_qps\": 100,\n    \"duration_s\": 10");
    assert_has(text, "\"now_qps\": null,\n    \"paused_s\": 2\n");
    assert_has(text, "\"accepted\": 97,\n    \"refused\": 1,\n    \"closed\": 0,\n"
                     "    \"active\": 96,\n    \"bytes_received\": 0,\n    \"bytes_sent\": 300,");
    assert_has(text, "\"listen_overflows\": null,\n    \"listen_drops\": 0,\n"
                     "    \"restarted\": false,\n    \"not_accepted\": 1,\n");
    assert_has(text, "\"retransmits\": null,\n    \"loss_probes\": 172,\n    \"dsacks\": 171,\n"
                     "    \"listen_overflows\": 0,\n    \"listen_drops\": 0,\n"
                     "    \"tcp_memory_pressures\": 4,\n");
    assert_has(text, "\"response\": {\n      \"count\": 980,\n      \"over\": 23,");
    assert_has(text, "\"min\": 700000,");
    assert_has(text, "\"p99\": \"beyond\",\n      \"p999\": null,");
    assert_has(text, "\"service\": {\n      \"count\": 980,");
    assert_has(text, "\"send_lag\": {\n      \"count\": 1000,\n      \"over\": 0,");
    assert_has(text, "\"connect\": {\n      \"count\": 1000,");
    assert_has(text, "\"retransmits\": null,");
    assert_has(text, "\"needless_retransmits\": 171,\n    \"lost_segments\": 5,");
    assert_has(text, "\"tls\": null,");
    assert_has(text, "\"rows\": null,");
    assert_has(text, "\"verdict\": \"SUSPECT\",\n  \"reasons\": [\n    \"unsent\"\n  ]");
    free(text);
}

static void figures_that_do_not_exist_are_null(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->connect_elapsed_ns = 0;
    r->load_ns = 10000 * MS; /* connections are not replaced */
    r->start.requested = true;
    r->start.late_ns = UINT64_MAX;
    text = text_of(report_json, m);
    assert_has(text, "\"connect_rate_per_s\": null,\n    \"connect_elapsed_s\": null,");
    assert_has(text, "\"churn\": {\n    \"per_s\": null,");
    assert_has(text, "\"start\": {\n    \"at_epoch_ns\": null,\n    \"margin_s\": null,\n"
                     "    \"late_ns\": null,");
    assert_has(text, "\"output\": {\n    \"rows\": null,\n    \"dropped_rows\": null,");
    free(text);
    r->load_ns = r->scheduled_ns = r->sent_ns = 0;
    m->config.reconnect = m->config.listens = true;
    text = text_of(report_json, m);
    assert_has(text, "\"measured_from\": null,");
    assert_has(text, "\"churn\": {\n    \"per_s\": null,");
    assert_has(text, "\"messages_per_s\": null,\n    \"clock\": null,\n    \"negative\": 0,\n"
                     "    \"least_ns\": null\n");
    free(text);
}

static void what_has_no_response_codes_has_no_figures_of_them(void **state)
{
    struct made_up *m = *state;
    char error[QUERY_ERROR_BYTES], *text;

    tally_sub(&m->result.tally.answers.by_code[1], 960);
    tally_add(&m->result.tally.answers.by_code[0], 977);
    text = text_of(report_text, m);
    assert_null(strstr(text, "Answers  "));
    free(text);
    query_free(&m->config.query);
    assert_int_equal(query_init(&m->config.query, 1, &(struct query_ask){0}, error), 0);
    text = text_of(report_json, m);
    assert_has(text, "\"answers\": null,");
    free(text);
}

/* It is no reason for doubt: the figures are right. */
static void answers_of_a_server_that_did_not_serve_are_noted(void **state)
{
    struct made_up *m = *state;
    char *text;

    text = text_of(report_text, m);
    assert_null(strstr(text, "% of the answers"));
    free(text);
    m->result.doubts = 0;
    tally_sub(&m->result.tally.answers.by_code[1], 245);
    tally_add(&m->result.tally.answers.by_code[1 + 5], 245);
    tally_add(&m->result.tally.answers.truncated, 488);
    text = text_of(report_text, m);
    assert_has(text, " ms)\n             25 % of the answers were REFUSED, which ");
    assert_null(strstr(text, "% of the answers were truncated"));
    free(text);
    m->config.socket.datagrams = true;
    text = text_of(report_text, m);
    assert_has(text, "\n             50 % of the answers were truncated: ");
    free(text);
}

static void valid_run_has_no_reasons(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.doubts = 0;
    m->result.verdict.unsent = 0;
    m->result.verdict.percentiles[4].own_ns = 0;
    text = text_of(report_text, m);
    assert_has(text, "Verdict      VALID\n");
    assert_null(strstr(text, "SUSPECT"));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"verdict\": \"VALID\",\n  \"reasons\": [],\n  \"explanations\": [],\n"
                     "  \"valid_to\": \"max\",");
    free(text);
}

static void percentiles_that_hold_are_under_their_keys(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_json, m);

    assert_has(text, "\"valid_to\": \"p99\",\n  \"holds\": {\n    \"p50\": true,\n"
                     "    \"p90\": true,\n    \"p95\": true,\n    \"p99\": true,\n"
                     "    \"p999\": false,\n    \"p9999\": true,\n    \"max\": true\n  }\n}");
    free(text);
    m->result.verdict.percentiles[0] = (struct verdict_percentile){701000, 1200000};
    text = text_of(report_json, m);
    assert_has(text, "\"valid_to\": \"none\",\n  \"holds\": {\n    \"p50\": false,\n");
    free(text);
    m->result.verdict.has_latency = false;
    text = text_of(report_json, m);
    assert_has(text, "\"valid_to\": null,\n  \"holds\": null\n}");
    free(text);
}

static void rows_of_answers_alone_that_are_not_sampled_count(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.has_rows = true;
    m->result.rows = (struct rows_result){.written = {0, 7}, .left_out = {0, 63}};
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   7 rows written, 0 missing, 63 not sampled\n");
    free(text);
}

static void output_that_failed_at_the_start_is_not_reported_as_complete(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.has_rows = true;
    m->result.rows = (struct rows_result){.error = 0};
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   0 rows written, 0 missing\n");
    free(text);
    m->result.rows.error = ENOSPC;
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   nothing was written, not even the header: No space left on "
                     "device\n");
    free(text);
    m->result.rows.dropped[0] = 9;
    text = text_of(report_text, m);
    assert_has(text, "\nRaw output   0 rows written, 9 missing: No space left on device\n");
    free(text);
}

static void broken_law_is_reported_as_a_bug(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.broken_law = "a = b";
    text = text_of(report_text, m);
    assert_has(text, "BUG in tcpclient: counts do not add up: a = b");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(summary_has_every_figure_in_its_place),
        TEST(closed_loop_requests_no_rate),
        TEST(success_is_rounded_down_in_decimal),
        TEST(a_mean_rate_of_0_is_a_rate),
        TEST(small_rate_is_not_rounded_to_nothing),
        TEST(a_load_that_never_began_has_no_rate),
        TEST(counts_of_all_queries_say_so),
        TEST(late_answers_to_proofs_are_said_to_be_included),
        TEST(as_many_of_one_kind_as_of_another_are_reported),
        TEST(one_of_a_kind_is_singular),
        TEST(json_has_every_figure_in_its_place),
        TEST(figures_that_do_not_exist_are_null),
        TEST(what_has_no_response_codes_has_no_figures_of_them),
        TEST(answers_of_a_server_that_did_not_serve_are_noted),
        TEST(valid_run_has_no_reasons),
        TEST(percentiles_that_hold_are_under_their_keys),
        TEST(rows_of_answers_alone_that_are_not_sampled_count),
        TEST(output_that_failed_at_the_start_is_not_reported_as_complete),
        TEST(broken_law_is_reported_as_a_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
