/* SPDX-License-Identifier: MIT
 * test_report: every figure of a made-up result is in its place in the text and the JSON. */
#include "client/sweep.h"
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

/* Ten batches with the means 2, 4 ... 20 us; see test_batch_means. */
static void mean_has_an_interval_once_the_run_is_long_enough(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_text, m);

    assert_null(strstr(text, "mean response"));
    free(text);
    for (unsigned i = 1; i <= 10; i++)
        batch_means_add(&m->result.batches[CLIENT_RESPONSE], 98, i * 2 * US);
    text = text_of(report_text, m);
    assert_has(text, "\n  mean response +-3.51 us at 90 %, +-4.33 us at 95 % confidence\n");
    free(text);
}

/* Each row of times that is printed, and no other, is explained. */
static void times_are_explained_as_far_as_they_are_printed(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_text, m);

    assert_has(text, "\n  response: intended send to answer; service: actual send to answer;\n"
                     "  unanswered queries count as slower than every answer; '-': fewer than 10 "
                     "values above\n"
                     "  holds: whether the percentile reflects the server, not this host\n\n");
    assert_null(strstr(text, "\nown delay"));
    free(text);
    record(&m->result.metrics[CLIENT_GAP], 2 * MS, 980);
    record(&m->result.metrics[CLIENT_MIN_RTT], 30 * US, 980);
    record(&m->result.metrics[CLIENT_NET], 40 * US, 980);
    record(&m->result.metrics[CLIENT_OWN], 3 * US, 980);
    text = text_of(report_text, m);
    assert_has(text, " values above;\n  own delay: this host's part of the response: the send lag\n"
                     "  holds: ");
    assert_has(text, "\n\nTime ");
    assert_has(text, "\nown delay     3.00 us");
    assert_has(text, "\ngap           2.00 ms");
    assert_has(text, "\nmin RTT       30.0 us");
    assert_null(strstr(text, "\nnet  "));
    free(text);
    m->config.socket.stamp_received = true;
    text = text_of(report_text, m);
    assert_has(text, "; service: actual send to answer; net: to arrival in the kernel;\n");
    assert_has(text, ": the send lag and the time until the answer is read\n");
    assert_has(text, "\nnet           40.0 us");
    free(text);
    m->config.listens = true;
    text = text_of(report_text, m);
    assert_has(text, "\n  response: intended send to receipt; service: actual send to receipt;\n"
                     "  '-': fewer than 10 values above\n  holds: ");
    free(text);
}

static void whether_percentiles_hold_is_explained_if_one_does_not(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.verdict.percentiles[4] = (struct verdict_percentile){0};
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nholds "));
    assert_null(strstr(text, "  holds: "));
    free(text);
    m->result.verdict.percentiles[0] = (struct verdict_percentile){701000, 1200000};
    text = text_of(report_text, m);
    assert_has(text, "\nholds                        no       yes       yes       yes       yes");
    assert_has(text, "  holds: ");
    free(text);
}

static void times_are_printed_if_as_many_queries_are_unanswered_as_answered(void **state)
{
    struct made_up *m = *state;
    char *text;

    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_reset(&m->result.metrics[i]);
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nTime "));
    free(text);
    record(&m->result.metrics[CLIENT_RESPONSE], 700 * US, 20);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 20);
    text = text_of(report_text, m);
    assert_has(text, "\nTime ");
    assert_has(text, "\nresponse       700 us    700 us         -");
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

/* 30 of 50 first attempts failed; 10 replacements were established before the load, 45 under it. */
static void replacements_are_those_established_under_load(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    m->config.reconnect = true;
    r->connections_requested = 100;
    r->load_ns = 10000 * MS;
    r->replaced_loaded = 10;
    tally_add(&r->tally.connections.reopened, 60);
    tally_add(&r->tally.connections.replaced, 55);
    text = text_of(report_text, m);
    assert_has(text, " 60 replacements attempted, 4.5/s connected");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"churn\": {\n    \"per_s\": 4.5,");
    free(text);
}

/* Lines about what did not happen would be noise. */
static void connections_that_were_not_replaced_or_lost_have_no_lines(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_sub(&t->connections.retransmits, 180);
    tally_sub(&t->queries[TALLY_MEASURED].scheduled, 1003);
    tally_sub(&t->answers.by_code[0], 3);
    m->result.paused_ns = 0;
    m->result.connect_elapsed_ns = 0; /* connecting was cut short */
    text = text_of(report_text, m);
    assert_has(
        text,
        "\n             98 live at the end\n"
        "Queries      0 scheduled, 1,000 sent, 980 answered\n"
        "             15 timed out, 5 failed, 0 cancelled, 3 unsent\n"
        "Answers      960 NOERROR, 11 NXDOMAIN, 6 RCODE15, 2 truncated\n"
        "Rate         100.0 q/s achieved, 0.0 scheduled, 100 requested, measured for 10.0 s\n");
    free(text);
    tally_sub(&t->connections.connected, 99);
    m->result.connect_elapsed_ns = 500 * MS;
    text = text_of(report_text, m);
    assert_has(text, "\n             98 live at the end\nQueries ");
    free(text);
}

static void connections_that_were_replaced_or_lost_have_lines(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->connections_wanted = 60;
    r->gave_up = true;
    tally_add(&r->tally.connections.attempted, 70);
    assert_int_equal(losses_init(&r->losses), 0);
    for (uint64_t i = 1; i <= 3; i++)
        losses_add(&r->losses, 7000 * MS, i * 1000 * MS);
    m->config.reconnect = true;
    m->about.churn_most_per_s = HOST_LIMITS_UNKNOWN;
    text = text_of(report_text, m);
    assert_has(
        text, "\n             98 live at the end, of 60 requested at that time; opened in 500 ms "
              "(198/s)\n             gave up: none of the first connections (--connect-window) got "
              "an answer; 30 not attempted\n"
              "             3 closed by the server, idle for at least 1.00 s, median 2.00 s\n"
              "             0 replacements attempted, 0.0/s connected\n"
              "             180 retransmits ");
    free(text);
    m->about.churn_most_per_s = 941;
    r->sockets.time_wait = 12;
    text = text_of(report_text, m);
    assert_has(text, " connected, at most 941/s sustainable with TIME_WAIT\n");
    assert_null(strstr(text, "at the end\n")); /* the kernel did not tell */
    r->has_sockets = true;
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "\n             12 in TIME_WAIT towards the server at the end\n");
    free(text);
    r->sockets.time_wait = 0;
    text = text_of(report_text, m);
    assert_null(strstr(text, "towards the server"));
    free(text);
    losses_free(&r->losses);
}

/* A server stood still in the warm-up only. */
static void counts_of_all_queries_say_so(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_add(&t->queries[TALLY_WARMUP].scheduled, 500);
    tally_add(&t->connections.with_timeouts, 7);
    m->result.connections_deaf = 2;
    tally_add(&t->queries[TALLY_MEASURED].blocked, 11);
    tally_add(&t->queries[TALLY_MEASURED].rerouted, 12);
    tally_add(&t->queries[TALLY_MEASURED].cancelled, 13);
    tally_add(&t->late, 3);
    tally_add(&t->duplicate, 4);
    tally_add(&t->unknown_id, 5);
    text = text_of(report_text, m);
    assert_has(text, " 15 timed out, 5 failed, 13 cancelled, 3 unsent\n");
    assert_has(text,
               " all timeouts (warm-up included) are on 7 connections, 2 deaf at the end: their "
               "last queries timed out\n");
    assert_has(text, " 11 waited for a free id, 12 moved to another connection\n");
    assert_has(text, " stray answers (warm-up included): 3 late, 4 duplicate, 5 with unknown id\n");
    assert_has(text, " 500 more in the warm-up, not included\n");
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
    assert_has(text, " all timeouts are on 1 connection, 0 deaf at the end\n");
    assert_has(text, "UDP          1 datagram malformed,");
    assert_has(text, "memory-pressure: 1 time: ");
    free(text);
}

/* Replacements were opened later: they say nothing of how fast the first ones were. */
static void connect_rate_is_that_of_the_first_connections(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_add(&m->result.tally.connections.connected, 40);
    tally_add(&m->result.tally.connections.replaced, 59);
    text = text_of(report_json, m);
    assert_has(text, "\"connect_rate_per_s\": 160,");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "; the first 80 opened in 500 ms (160/s)");
    free(text);
}

/* A replacement is not one of those requested. */
static void opening_that_ended_early_counts_those_not_attempted(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_add(&m->result.tally.connections.attempted, 71);
    tally_add(&m->result.tally.connections.reopened, 1);
    m->result.gave_up = true;
    text = text_of(report_text, m);
    assert_has(text, "gave up: none of the first connections (--connect-window) got an answer; "
                     "30 not attempted\n");
    free(text);
    m->result.gave_up = false;
    m->result.n_futile = 16;
    text = text_of(report_text, m);
    assert_has(text, "stopped opening: none of the last 16 got an answer; 30 not attempted\n");
    free(text);
}

static void json_has_every_figure_in_its_place(void **state)
{
    char *text = text_of(report_json, *state);

    assert_has(text, "\"schema\": 1");
    assert_has(text, "\"command\": [\n    \"tcpclient\",\n    \"--qname=a b\\\"\"\n  ]");
    assert_has(text, "\"half_open\": 1,\n    \"with_timeouts\": 0,\n    \"deaf_at_end\": 0,\n"
                     "    \"deaf_unacknowledged\": 0,\n"
                     "    \"failed\": 1,\n    \"wanted_at_end\": 100,\n"
                     "    \"live_at_end\": 98,");
    assert_has(text, "\"connect_rate_per_s\": 198,");
    assert_has(text, "\"scheduled\": 1003,\n    \"sent\": 1000,\n    \"unsent\": 3,\n"
                     "    \"answered\": 980,\n    \"timeout\": 15,\n    \"error\": 5,");
    assert_has(text, "\"receive/closed by peer\": 5");
    assert_has(text, "\"answers\": {\n    \"rcodes\": {\n      \"NOERROR\": 960,\n"
                     "      \"NXDOMAIN\": 11,\n      \"RCODE15\": 6\n    },\n"
                     "    \"echoed\": 3,\n    \"truncated\": 2\n  },");
    assert_has(text, "\"asked_qps\": 100,\n    \"achieved_qps\": 100,\n    \"duration_s\": 10");
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

/* Its first answer came between the count of those half-open and the end. */
static void a_connection_that_is_answered_at_last_did_not_fail(void **state)
{
    struct made_up *m = *state;
    char *text;

    tally_sub(&m->result.tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 1);
    text = text_of(report_json, *state);
    assert_has(text, "\"half_open\": 1,");
    assert_has(text, "\"failed\": 1,");
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

static void table_without_rows_is_left_out(void **state)
{
    struct made_up *m = *state;
    char *text;

    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_reset(&m->result.metrics[i]);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 1);
    text = text_of(report_text, m);
    assert_has(text, "\nTime              min ");
    free(text);
    hist_reset(&m->result.metrics[CLIENT_RESPONSE]);
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nTime  "));
    assert_null(strstr(text, "intended send"));
    free(text);
}

/* The connections have times, as of a run that was interrupted before the first query. */
static void rows_that_are_not_there_are_not_explained(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.socket.stamp_received = true;
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        if (i != CLIENT_CONNECT)
            hist_reset(&m->result.metrics[i]);
    text = text_of(report_text, m);
    assert_has(text, "\nconnect       4.00 ms");
    assert_null(strstr(text, "intended send"));
    free(text);
    hist_record_beyond(&m->result.metrics[CLIENT_RESPONSE], 1); /* it was not sent */
    text = text_of(report_text, m);
    assert_has(text, "\n  response: intended send to answer;\n  unanswered queries count as slower "
                     "than every answer; '-': fewer than 10 values above\n");
    free(text);
    record(&m->result.metrics[CLIENT_SERVICE], 60 * US, 1);
    record(&m->result.metrics[CLIENT_NET], 50 * US, 1);
    record(&m->result.metrics[CLIENT_OWN], 10 * US, 1);
    text = text_of(report_text, m);
    assert_has(text,
               "\n  response: intended send to answer; service: actual send to answer; net: to "
               "arrival in the kernel;\n  unanswered queries count as slower than every "
               "answer; '-': fewer than 10 values above;\n  own delay: this host's part of the "
               "response: the send lag and the time until the answer is read\n");
    free(text);
}

/* Classes none of whose queries was due; the search had no trial; no connection was due. */
static void tables_without_rows_have_no_head(void **state)
{
    static const struct client_class classes[] = {{.name = "a"}};
    static struct client_find find;
    static const struct client_sweep sweep = {.n = 1, .points = {{.find = &find}}};
    const struct client_find_settings settings = {.what = CLIENT_FIND_RATE};
    struct made_up *m = *state;
    char *text;

    find.settings = &settings;
    m->config.classes = classes;
    m->config.n_classes = 1;
    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->result.sweep = &sweep;
    assert_int_equal(hist_init(&m->result.class_times[0].response), 0);
    text = text_of(report_text, m);
    assert_has(text, "\nClass                clients ");
    assert_null(strstr(text, "\nResponse  "));
    assert_has(text, " 0 trials in 0 s, 0 void\n");
    assert_null(strstr(text, "  trial "));
    assert_has(text, "\nArrivals     0 connections at ");
    assert_null(strstr(text, "\nSince due"));
    free(text);
    hist_record_beyond(&m->result.class_times[0].response, 1);
    text = text_of(report_text, m);
    assert_has(text, "\n\nResponse          min ");
    free(text);
    hist_free(&m->result.class_times[0].response);
}

/* Of twelve connections, one did not get an answer. */
static void arrivals_have_their_times(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text = text_of(report_text, m);

    assert_null(strstr(text, "\nArrivals ")); /* they were opened as fast as possible */
    free(text);
    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->config.connect_rate_per_s = 50;
    tally_add(&r->tally.connections.held, 7);
    record(&r->metrics[CLIENT_OPEN_LAG], 1 * US, 12);
    record(&r->metrics[CLIENT_DUE_CONNECTED], 20 * US, 12);
    record(&r->metrics[CLIENT_DUE_ANSWERED], 4 * MS, 11);
    hist_record_beyond(&r->metrics[CLIENT_DUE_ANSWERED], 1);
    record(&r->metrics[CLIENT_OPEN_ANSWERED], 3 * MS, 11);
    text = text_of(report_text, m);
    assert_has(text, "\nArrivals     12 connections at 50/s (Poisson), 7 held back by "
                     "--connect-window\n\nSince due         min ");
    assert_has(text, "\nopen lag      1.00 us");
    assert_has(text, "\nconnected     20.0 us");
    assert_has(text, "\nanswered      4.00 ms");
    assert_has(text, "\nfrom open     3.00 ms");
    free(text);
    m->config.connect_arrival = CLIENT_CONNECT_CONSTANT;
    text = text_of(report_text, m);
    assert_has(text, "\nArrivals     12 connections at 50/s (constant), ");
    free(text);
}

/* Its trials have theirs. */
static void a_search_has_no_times_of_the_whole_run(void **state)
{
    static struct client_find find;
    static const struct client_sweep sweep = {.n = 1, .points = {{.find = &find}}};
    const struct client_find_settings settings = {.what = CLIENT_FIND_RATE};
    struct made_up *m = *state;
    char *text;

    find.settings = &settings;
    m->result.sweep = &sweep;
    m->about.rate_qps = 0;
    text = text_of(report_text, m);
    assert_has(text, "\nQueries ");
    assert_null(strstr(text, "\nTime  "));
    assert_null(strstr(text, "histogram"));
    free(text);
    m->result.sweep = NULL;
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

static void rows_that_could_not_even_begin_are_not_none_missing(void **state)
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
        TEST(mean_has_an_interval_once_the_run_is_long_enough),
        TEST(times_are_explained_as_far_as_they_are_printed),
        TEST(whether_percentiles_hold_is_explained_if_one_does_not),
        TEST(times_are_printed_if_as_many_queries_are_unanswered_as_answered),
        TEST(closed_loop_requests_no_rate),
        TEST(small_rate_is_not_rounded_to_nothing),
        TEST(a_load_that_never_began_has_no_rate),
        TEST(replacements_are_those_established_under_load),
        TEST(connections_that_were_not_replaced_or_lost_have_no_lines),
        TEST(connections_that_were_replaced_or_lost_have_lines),
        TEST(counts_of_all_queries_say_so),
        TEST(as_many_of_one_kind_as_of_another_are_reported),
        TEST(one_of_a_kind_is_singular),
        TEST(connect_rate_is_that_of_the_first_connections),
        TEST(opening_that_ended_early_counts_those_not_attempted),
        TEST(json_has_every_figure_in_its_place),
        TEST(figures_that_do_not_exist_are_null),
        TEST(a_connection_that_is_answered_at_last_did_not_fail),
        TEST(what_has_no_response_codes_has_no_figures_of_them),
        TEST(valid_run_has_no_reasons),
        TEST(percentiles_that_hold_are_under_their_keys),
        TEST(table_without_rows_is_left_out),
        TEST(rows_that_are_not_there_are_not_explained),
        TEST(tables_without_rows_have_no_head),
        TEST(arrivals_have_their_times),
        TEST(a_search_has_no_times_of_the_whole_run),
        TEST(rows_of_answers_alone_that_are_not_sampled_count),
        TEST(rows_that_could_not_even_begin_are_not_none_missing),
        TEST(broken_law_is_reported_as_a_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
