/* SPDX-License-Identifier: MIT
 * test_report: every figure of a made-up result appears in the right place of the text and the
 * JSON. */
#include "client/report.h"

#include "client/opts.h"
#include "measure/verdict.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US 1000ull
#define MS 1000000ull

struct made_up {
    struct client_opts opts;
    struct client_config config;
    struct client_result result;
    struct report_about about;
};

static void record(struct hist *h, uint64_t first_ns, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hist_record(h, first_ns + i);
}

/* Each metric has its own decade, so that a mix-up is noticed. */
static void make_result(struct client_result *r)
{
    struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];

    memset(r, 0, sizeof *r);
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        assert_int_equal(hist_init(&r->metrics[m]), 0);
    record(&r->metrics[CLIENT_RESPONSE], 700 * US, 980);
    record(&r->metrics[CLIENT_SERVICE], 60 * US, 980);
    hist_record_beyond(&r->metrics[CLIENT_RESPONSE], 23);
    hist_record_beyond(&r->metrics[CLIENT_SERVICE], 20);
    record(&r->metrics[CLIENT_SEND_LAG], 5 * US, 1000);
    record(&r->metrics[CLIENT_CONNECT], 4 * MS, 1000);
    tally_add(&q->scheduled, 1003);
    tally_add(&q->sent, 1000);
    tally_add(&q->unsent, 3);
    tally_add(&q->answered, 980);
    tally_add(&r->tally.answers.by_code[0], 3);
    tally_add(&r->tally.answers.by_code[1], 960);
    tally_add(&r->tally.answers.by_code[1 + 3], 11);
    tally_add(&r->tally.answers.by_code[1 + 15], 6);
    tally_add(&r->tally.answers.truncated, 2);
    tally_add(&q->timeout, 15);
    tally_add(&q->error, 5);
    tally_add(&r->tally.errors[PHASE_RECEIVE][REASON_PEER], 5);
    tally_add(&r->tally.connections.connected, 99);
    tally_add(&r->tally.connections.proven, 98);
    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 1);
    tally_add(&r->tally.connections.ended[PHASE_RUN][REASON_FINISHED], 98);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 1);
    r->connections_asked = 100;
    r->connections_at_begin = 100;
    r->connections_wanted = 100;
    r->connections_live = 98;
    r->connections_half_open = 1;
    r->connect_elapsed_ns = 500 * MS;
    r->loaded = true;
    r->scheduled_ns = r->sent_ns = 10000 * MS;
    r->n_workers = 2;
    r->host_before = r->host_loaded = r->host_after = (struct host_counters){.cpu_ticks = 1};
    r->host_after.retransmits = HOST_COUNTERS_UNKNOWN;
    r->host_after.loss_probes = 172;
    r->host_after.dsacks = 171;
    tally_add(&r->tally.connections.retransmits, 180);
    tally_add(&r->tally.connections.needless_retransmits, 171);
    tally_add(&r->tally.connections.opening_retransmits, 4);
    r->host_after.tcp_memory_pressures = 4;
    r->verdict = (struct verdict_input){
        .scheduled = 1003, .sent = 1000, .unsent = 3, .sent_on_schedule = 1, .has_latency = true};
    r->verdict.n_latencies = 1000;
    r->verdict.percentiles[4] = (struct verdict_percentile){701000, 1200000};
    r->doubts = 1u << VERDICT_UNSENT;
    r->steered = true;
    r->paused_ns = 2000 * MS;
    r->server_before = (struct server_stats){.is_known = true, .accepted = 7, .bytes_sent = 5};
    r->server_after = (struct server_stats){.is_known = true,
                                            .accepted = 104,
                                            .refused = 1,
                                            .active = 96,
                                            .bytes_sent = 305,
                                            .listen_overflows = UINT64_MAX};
}

static int setup(void **state)
{
    struct made_up *m = calloc(1, sizeof *m);
    static char *const command[] = {(char *)"tcpclient", (char *)"--qname=a b\"", NULL};
    char *argv[] = {(char *)"tcpclient", (char *)"-r", (char *)"100", (char *)"host"};
    char error[OPTIONS_ERROR_BYTES];

    if (m == NULL || client_opts_parse(&m->opts, 4, argv, stdout, error) != OPTIONS_RUN ||
        query_init(&m->config.query, 0, &(struct query_ask){0}, error) != 0)
        return -1;
    m->config.n_connections = 100;
    m->config.duration_ns = 10000 * MS;
    m->config.timeout_ns = 5000 * MS;
    make_result(&m->result);
    m->about = (struct report_about){.version = "9.9",
                                     .command = command,
                                     .libevent = "2.x",
                                     .backend = "epoll",
                                     .target = "192.0.2.1:53",
                                     .rate_qps = 100,
                                     .config = &m->config,
                                     .options = client_opts_table(),
                                     .settings = &m->opts};
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct made_up *m = *state;

    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_free(&m->result.metrics[i]);
    query_free(&m->config.query);
    free(m);
    return 0;
}

/* Returns the text that a report prints, to be freed by the caller. */
static char *text_of(void (*report)(FILE *, const struct report_about *,
                                    const struct client_result *),
                     const struct made_up *m)
{
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    assert_non_null(out);
    report(out, &m->about, &m->result);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *wanted)
{
    if (strstr(text, wanted) == NULL)
        fail_msg("'%s' is not in:\n%s", wanted, text);
}

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

static void of_tls_both_reports_have_version_share_and_time(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.tls = (struct tls_context *)m; /* the reports only check whether it is set */
    m->result.tls_version = "TLSv1.3";
    m->result.tls_cipher = "TLS_AES_256_GCM_SHA384";
    tally_add(&m->result.tally.connections.secured, 96);
    tally_add(&m->result.tally.connections.resumed, 72);
    record(&m->result.metrics[CLIENT_HANDSHAKE], 30 * MS, 96);
    text = text_of(report_text, m);
    assert_has(text, "dns over TLS to 192.0.2.1:53");
    assert_has(text, "TLS          96 handshakes, 72 resumed (75 %); TLSv1.3, TLS_AES_256_");
    assert_has(text, "handshake     30.0 ms   30.0 ms");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"command\": [\n    \"tcpclient\",\n    \"--qname=a b\\\"\"\n  ]");
    assert_has(text, "\"version\": \"TLSv1.3\",\n    \"cipher\": \"TLS_AES_256_GCM_SHA384\",\n"
                     "    \"handshakes\": 96,\n    \"resumed\": 72\n");
    assert_has(text, "\"handshake\": {\n      \"count\": 96,");
    free(text);
}

static void json_has_every_figure_in_its_place(void **state)
{
    char *text = text_of(report_json, *state);

    assert_has(text, "\"schema\": 1");
    assert_has(text, "\"half_open\": 1,\n    \"with_timeouts\": 0,\n    \"deaf_at_end\": 0,\n"
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
                     "    \"not_accepted\": 1\n");
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

/* Two hosts whose clocks differ by up to 250 us. */
static void make_listener(struct made_up *m)
{
    struct tally_push *p = &m->result.tally.push;

    m->config.listens = true;
    m->about.rate_qps = 0;
    m->result.push_least_ns = -250 * (int64_t)US;
    tally_add(&p->before, 111);
    tally_add(&p->measured, 50000);
    tally_add(&p->after, 222);
    tally_add(&p->lost, 3);
    tally_add(&p->duplicate, 4);
    tally_add(&p->damaged, 5);
    tally_add(&p->other_clock, 50333);
    tally_add(&p->negative, 6);
    tally_add(&p->unfinished, 7);
}

static void listener_reports_messages(void **state)
{
    struct made_up *m = *state;
    char *text;

    text = text_of(report_json, m);
    assert_has(text, "\"push\": null,");
    free(text);
    make_listener(m);
    text = text_of(report_text, m);
    assert_has(text, "tcpclient 9.9: listen to 192.0.2.1:53, 100 connections, 10.0 s");
    assert_has(text, "50,000 received (5000.0/s), 111 before and 222 after the measurement");
    assert_has(text, "3 lost, 4 duplicate, 5 damaged; 7 connections not read to the end");
    assert_has(text, "all timed with the CLOCK_REALTIME of two hosts");
    assert_has(text, "6 arrived before they were due, by up to 250 us");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"measured\": 50000,\n    \"before\": 111,\n    \"after\": 222,\n"
                     "    \"lost\": 3,\n    \"duplicate\": 4,\n    \"damaged\": 5,\n"
                     "    \"unfinished_connections\": 7,\n    \"messages_per_s\": 5000,\n"
                     "    \"clock\": \"realtime\",\n    \"negative\": 6,\n"
                     "    \"least_ns\": -250000");
    free(text);
}

static void clock_is_named_by_what_dated_the_messages(void **state)
{
    struct made_up *m = *state;
    char *text;

    make_listener(m);
    tally_sub(&m->result.tally.push.other_clock, 1);
    text = text_of(report_json, m);
    assert_has(text, "\"clock\": \"mixed\"");
    free(text);
    tally_sub(&m->result.tally.push.other_clock, 50332);
    text = text_of(report_json, m);
    assert_has(text, "\"clock\": \"monotonic\"");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "timed with the CLOCK_MONOTONIC that both programs share");
    free(text);
}

static void reuse_of_connections_on_demand_is_reported(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.on_demand = true;
    tally_add(&m->result.tally.demand.opened, 250);
    tally_add(&m->result.tally.demand.waited, 300);
    tally_add(&m->result.tally.demand.carried, 1000);
    tally_add(&m->result.tally.demand.carried_by[3], 250);
    text = text_of(report_text, m);
    assert_has(text, "100 of 100 clients connected, 4 queries per connection\n");
    assert_has(text, "reuse ratio 0.75; 300 queries (30 %) waited for a connection, 0 failed");
    assert_has(text, "connections by queries: 250 with 3-4\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"reuse_ratio\": 0.75");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(summary_has_every_figure_in_its_place),
        TEST(of_tls_both_reports_have_version_share_and_time),
        TEST(json_has_every_figure_in_its_place),
        TEST(what_has_no_response_codes_has_no_figures_of_them),
        TEST(valid_run_has_no_reasons),
        TEST(listener_reports_messages),
        TEST(clock_is_named_by_what_dated_the_messages),
        TEST(reuse_of_connections_on_demand_is_reported),
        TEST(broken_law_is_shouted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
