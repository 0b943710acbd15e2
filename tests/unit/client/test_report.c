/* SPDX-License-Identifier: MIT
 * test_report: every figure of a made-up result is in its place in the text and the JSON. */
#include "report_steps.h"

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
    assert_has(text, "1,003 scheduled, 1,000 sent, 980 answered");
    assert_has(text, "15 timed out, 5 failed, 0 cancelled, 3 unsent");
    assert_has(text, "\nAnswers      960 NOERROR, 11 NXDOMAIN, 6 RCODE15, 2 truncated, 3 echoed\n");
    assert_has(text, "response       700 us    701 us    701 us   >5.00 s         -");
    assert_has(text, "service       60.0 us   60.5 us   60.9 us   >5.00 s");
    assert_has(text, "send lag      5.00 us   5.50 us   5.90 us   5.99 us");
    assert_has(text, "connect       4.00 ms   4.00 ms");
    assert_has(text,
               "           1  connect: refused\n              -> nothing listens on that port");
    assert_has(text, "           5  receive: closed by peer");
    assert_has(
        text,
        "\nholds                       yes       yes       yes        no       yes       yes\n");
    assert_has(text, "Verdict      SUSPECT (holds to p99; p99.9 and above include this host's own "
                     "delays of 1.20 ms)\n             unsent: 3 of 1,003 queries: ");
    assert_null(strstr(text, "TLS"));
    free(text);
}

static void head_says_how_the_queries_are_sent(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.seed = 7;
    text = text_of(report_text, m);
    assert_has(text, "\n  2 threads sharing one fd table, pacing auto, seed 7, quickack off, "
                     "libevent 2.x (epoll)\n");
    free(text);
    m->result.own_fd_tables = m->config.quickack = true;
    m->config.pace = CLIENT_PACE_SPIN;
    text = text_of(report_text, m);
    assert_has(text, "\n  2 threads with own fd tables, pacing spin, seed 7, quickack on, ");
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

/* 1,000 more connections were open for a while. */
static void memory_is_that_of_the_connections_still_open(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    r->host_before.rss_bytes = r->host_before.slab_bytes = 1 << 20;
    r->host_after.rss_bytes = (1 << 20) + 99 * 500;
    r->host_after.slab_bytes = (1 << 20) + 99 * 2048;
    tally_add(&r->tally.connections.connected, 1000);
    text = text_of(report_text, m);
    assert_has(text, ", 500 B more per connection; kernel slab 2.00 KiB per connection\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"rss_bytes_per_connection\": 500,");
    assert_has(text, "\"slab_bytes_per_connection\": 2048,");
    free(text);
}

/* A reading before the load, one when it begins, and one after it: each figure has its own. */
static void make_host(struct client_result *r)
{
    r->host_before = (struct host_counters){.user_us = 1000000,
                                            .system_us = 2000000,
                                            .involuntary_switches = 100,
                                            .cpu_ticks = 5000,
                                            .listen_overflows = 1,
                                            .listen_drops = 2};
    r->host_loaded = (struct host_counters){
        .cpu_ticks = 10000, .steal_ticks = 100, .retransmits = 50, .loss_probes = 60, .dsacks = 70};
    r->host_after = (struct host_counters){.user_us = 4250000,
                                           .system_us = 3500000,
                                           .involuntary_switches = 117,
                                           .cpu_ticks = 12000,
                                           .steal_ticks = 150,
                                           .rss_bytes = 8 << 20,
                                           .slab_bytes = 9 << 20,
                                           .retransmits = 51,
                                           .loss_probes = 62,
                                           .dsacks = 73,
                                           .listen_overflows = 5,
                                           .listen_drops = 7};
    tally_add(&r->tally.bytes_sent, 3001);
    tally_add(&r->tally.bytes_received, 4002);
}

static void figures_of_the_host_are_differences(void **state)
{
    struct made_up *m = *state;
    char *text;

    make_host(&m->result);
    text = text_of(report_text, m);
    assert_has(text, "\nHost         3.25 s user, 1.50 s system; 8.00 MiB resident");
    assert_has(text, "\n             1 retransmit under load, 4 listen overflows, 17 involuntary "
                     "switches\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"resources\": {\n    \"user_s\": 3.25,\n    \"system_s\": 1.5,\n"
                     "    \"rss_bytes\": 8388608,\n");
    assert_has(text, "    \"slab_bytes\": 9437184,\n");
    assert_has(text, "    \"involuntary_switches\": 17,\n    \"steal_percent\": 2.5,\n"
                     "    \"retransmits\": 1,\n    \"loss_probes\": 2,\n    \"dsacks\": 3,\n"
                     "    \"listen_overflows\": 4,\n    \"listen_drops\": 5,\n");
    assert_has(text, "    \"bytes_sent\": 3001,\n    \"bytes_received\": 4002\n  }");
    free(text);
}

static void figures_of_the_network_are_those_under_load(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text = text_of(report_json, m);

    assert_has(text, "\"network\": null,"); /* the interface is unknown */
    free(text);
    r->has_interface = true;
    strcpy(r->interface, "eth7");
    r->net_loaded = (struct netdev_counters){1000, 1 << 20, 2000, 2 << 20};
    r->net_after = (struct netdev_counters){1005, 4 << 20, 2001, 7 << 20};
    text = text_of(report_text, m);
    assert_has(text, "\nNetwork      eth7 under load: in 5 packets, 3.00 MiB; out 1 packet, 5.00 "
                     "MiB\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"network\": {\n    \"interface\": \"eth7\",\n    \"rx_packets\": 5,\n"
                     "    \"rx_bytes\": 3145728,\n    \"tx_packets\": 1,\n"
                     "    \"tx_bytes\": 5242880\n  }");
    free(text);
}

static void sockets_left_are_told_apart(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_json, m);

    assert_has(text, "\"sockets\": null,");
    free(text);
    m->result.has_sockets = true;
    m->result.sockets.syn_sent = 11;
    m->result.sockets.fin_wait = 12;
    m->result.sockets.time_wait = 13;
    m->result.sockets.close_wait = 14;
    m->result.sockets.other = 15;
    text = text_of(report_json, m);
    assert_has(text, "\"sockets\": {\n    \"syn_sent\": 11,\n    \"fin_wait\": 12,\n"
                     "    \"time_wait\": 13,\n    \"close_wait\": 14,\n    \"other\": 15\n  }");
    free(text);
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
               " 1 retransmit on 1 connection, 171 spurious\n             1 SYN retransmit, of all "
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

static void broken_law_is_shouted(void **state)
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
        TEST(head_says_how_the_queries_are_sent),
        TEST(mean_has_an_interval_once_the_run_is_long_enough),
        TEST(closed_loop_requests_no_rate),
        TEST(replacements_are_those_established_under_load),
        TEST(memory_is_that_of_the_connections_still_open),
        TEST(figures_of_the_host_are_differences),
        TEST(figures_of_the_network_are_those_under_load),
        TEST(sockets_left_are_told_apart),
        TEST(counts_of_all_queries_say_so),
        TEST(one_of_a_kind_is_singular),
        TEST(connect_rate_is_that_of_the_first_connections),
        TEST(json_has_every_figure_in_its_place),
        TEST(a_connection_that_is_answered_at_last_did_not_fail),
        TEST(what_has_no_response_codes_has_no_figures_of_them),
        TEST(valid_run_has_no_reasons),
        TEST(table_without_rows_is_left_out),
        TEST(rows_of_answers_alone_that_are_not_sampled_count),
        TEST(broken_law_is_shouted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
