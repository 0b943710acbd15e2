/* SPDX-License-Identifier: MIT
 * test_report_json: figures that are alike keep their keys; what is unknown is null; the verdict.
 */
#include "report_steps.h"

static void connections_are_counted_under_their_keys(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    tally_add(&t->connections.attempted, 201);
    tally_add(&t->connections.reopened, 202);
    tally_add(&t->connections.held, 203);
    tally_add(&t->connections.syn_retransmits, 204);
    tally_add(&t->connections.with_retransmits, 205);
    tally_add(&t->connections.with_timeouts, 206);
    m->result.connections_unresponsive = 207;
    tally_add(&t->connections.unresponsive_unacknowledged, 208);
    text = text_of(report_json, m);
    assert_has(
        text,
        "\"connections\": {\n    \"asked\": 100,\n    \"attempted\": 201,\n    \"reopened\": 202,\n"
        "    \"held\": 203,\n    \"connected\": 99,\n    \"proven\": 98,\n"
        "    \"syn_retransmits\": 204,\n    \"retransmits\": 180,\n"
        "    \"with_retransmits\": 205,\n");
    assert_has(text, "\"with_timeouts\": 206,\n    \"unresponsive_at_end\": 207,\n"
                     "    \"unresponsive_unacknowledged\": 208,\n");
    assert_has(text, "\"connect_elapsed_s\": 0.5,\n    \"outcomes\": {");
    free(text);
}

/* Each count is one more than the one before: the keys below are those of all counts. */
static void make_queries(struct tally_queries *q, uint64_t n)
{
    for (size_t i = 0; i < sizeof *q / sizeof(tally_count); i++)
        tally_add((tally_count *)q + i, n + i);
}

static void queries_are_counted_under_their_keys(void **state)
{
    struct made_up *m = *state;
    struct tally *t = &m->result.tally;
    char *text;

    m->result.in_flight = 209;
    tally_add(&t->late, 210);
    tally_add(&t->duplicate, 211);
    tally_add(&t->unknown_id, 212);
    tally_add(&t->ids_recycled, 213);
    tally_add(&t->withdrawn, 214);
    tally_add(&t->queries[TALLY_WARMUP].scheduled, 301);
    make_queries(&t->queries[TALLY_PROBE], 401);
    text = text_of(report_json, m);
    assert_has(text, "\"in_flight\": 209,\n    \"late\": 210,\n    \"duplicate\": 211,\n"
                     "    \"unknown_id\": 212,\n    \"ids_recycled\": 213,\n"
                     "    \"withdrawn\": 214,\n    \"outcomes\": {");
    assert_has(text, "\"queries\": {\n    \"scheduled\": 1003,");
    assert_has(text, "\"warmup\": {\n    \"scheduled\": 301,");
    assert_has(text, "\"probes\": {\n    \"scheduled\": 401,\n    \"sent\": 402,\n"
                     "    \"unsent\": 403,\n    \"answered\": 404,\n    \"timeout\": 405,\n"
                     "    \"error\": 406,\n    \"cancelled\": 407,\n    \"blocked\": 408,\n"
                     "    \"rerouted\": 409,\n    \"unconnected\": 410\n  }");
    assert_int_equal(sizeof(struct tally_queries), (410 - 400) * sizeof(tally_count));
    free(text);
}

static void rows_are_counted_under_their_keys(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.has_rows = true;
    m->result.rows =
        (struct rows_result){.written = {10, 20}, .dropped = {1, 2}, .left_out = {300, 400}};
    text = text_of(report_json, m);
    assert_has(text, "\"output\": {\n    \"rows\": 30,\n    \"dropped_rows\": 3,\n"
                     "    \"answer_rows\": 20,\n    \"dropped_answer_rows\": 2,\n"
                     "    \"left_out_rows\": 700,\n    \"left_out_answer_rows\": 400\n  }");
    free(text);
}

/* Each with a number of values of its own. */
static void times_are_under_their_keys(void **state)
{
    static const struct {
        const char *key;
        enum client_metric metric;
    } times[] = {
        {"response", CLIENT_RESPONSE},
        {"service", CLIENT_SERVICE},
        {"send_lag", CLIENT_SEND_LAG},
        {"net", CLIENT_NET},
        {"own", CLIENT_OWN},
        {"connect", CLIENT_CONNECT},
        {"handshake", CLIENT_HANDSHAKE},
        {"gap", CLIENT_GAP},
        {"recovery", CLIENT_RECOVERY},
        {"min_rtt", CLIENT_MIN_RTT},
        {"open_lag", CLIENT_OPEN_LAG},
        {"due_to_connected", CLIENT_DUE_CONNECTED},
        {"due_to_secured", CLIENT_DUE_SECURED},
        {"due_to_answered", CLIENT_DUE_ANSWERED},
        {"open_to_answered", CLIENT_OPEN_ANSWERED},
    };
    struct made_up *m = *state;
    char *text, wanted[100];

    assert_int_equal(sizeof times / sizeof *times, CLIENT_N_METRICS);
    for (unsigned i = 0; i < CLIENT_N_METRICS; i++) {
        hist_reset(&m->result.metrics[i]);
        record(&m->result.metrics[i], US, i + 1);
    }
    text = text_of(report_json, m);
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(wanted, sizeof wanted, "\"%s\": {\n      \"count\": %u,", times[i].key,
                 times[i].metric + 1u);
        assert_has(text, wanted);
    }
    free(text);
}

static void times_that_are_collected_at_the_end_are_unknown_until_then(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.state = CLIENT_RUN_RUNNING;
    text = text_of(report_json, m);
    assert_has(text, "\"response\": {\n      \"count\": 980,");
    assert_has(text, "\"connect\": null,\n    \"handshake\": null,\n    \"gap\": null,\n"
                     "    \"recovery\": null,\n    \"min_rtt\": null,\n    \"open_lag\": {");
    free(text);
}

static void rate_now_is_unknown_in_a_closed_loop(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.state = CLIENT_RUN_RUNNING;
    m->result.rate_now_qps = 50;
    text = text_of(report_json, m);
    assert_has(text, "\"now_qps\": 50,");
    free(text);
    m->config.loop = CLIENT_LOOP_CLOSED;
    text = text_of(report_json, m);
    assert_has(text, "\"now_qps\": null,");
    free(text);
}

static void start_says_how_well_it_was_kept(void **state)
{
    struct made_up *m = *state;
    char *text = text_of(report_json, m);

    assert_has(text, "\"start\": null,");
    free(text);
    m->result.start =
        (struct client_start){.requested = true,
                              .at_epoch_ns = 1800000000500000000,
                              .margin_ns = 2500 * (int64_t)MS,
                              .late_ns = 7 * US,
                              .clock = {.is_synchronized = true, .max_error_ns = 3 * MS}};
    text = text_of(report_json, m);
    assert_has(text, "\"start\": {\n    \"at_epoch_ns\": 1800000000500000000,\n"
                     "    \"margin_s\": 2.5,\n    \"late_ns\": 7000,\n    \"missed\": false,\n"
                     "    \"clock_is_synchronized\": true,\n    \"clock_max_error_ns\": 3000000\n");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, "known 2.50 s before; first query 7.00 us late; clock within 3.00 ms\n");
    free(text);
}

/* The load began, but ended in the settle time or in the warm-up. */
static void measurement_that_did_not_begin_has_no_time(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->result.loaded = true;
    m->result.measured_epoch_ns = 1800000000500000000;
    text = text_of(report_json, m);
    assert_has(text, "\"measured_from\": \"2027-01-15T08:00:00.500Z\",");
    free(text);
    m->result.scheduled_ns = 0;
    text = text_of(report_json, m);
    assert_has(text, "\"measured_from\": null,");
    free(text);
}

static void assert_report_has(const struct made_up *m, const char *wanted)
{
    char *text = text_of(report_json, m);

    assert_has(text, wanted);
    free(text);
}

static void churn_is_that_of_a_run_that_reconnects(void **state)
{
    struct made_up *m = *state;

    m->about.churn_most_per_s = 470;
    m->result.load_ns = 10000 * MS;
    tally_add(&m->result.tally.connections.replaced, 230);
    assert_report_has(m, "\"churn\": {\n    \"per_s\": null,\n    \"most_per_s\": 470\n  },");
    m->config.reconnect = true;
    m->about.churn_most_per_s = UINT64_MAX; /* no limit */
    assert_report_has(m, "\"churn\": {\n    \"per_s\": 23,\n    \"most_per_s\": null\n  },");
    m->result.load_ns = 0;
    assert_report_has(m, "\"churn\": {\n    \"per_s\": null,");
}

static void only_answers_to_dns_queries_have_codes(void **state)
{
    struct made_up *m = *state;

    assert_report_has(m, "\"answers\": {");
    m->config.listens = true;
    assert_report_has(m, "\"answers\": null,");
    m->config.listens = false;
    query_free(&m->config.query);
    assert_int_equal(query_init(&m->config.query, QUERY_PING, &(struct query_ask){0}, NULL), 0);
    assert_report_has(m, "\"answers\": null,");
}

static void diagnosis_has_an_object_for_each_limit(void **state)
{
    struct made_up *m = *state;

    m->result.diagnosis.n_lines = 2;
    for (unsigned i = 0; i < 2; i++) {
        struct diagnosis_line *line = &m->result.diagnosis.lines[i];

        line->limit = i == 0 ? "backlog" : "ports";
        line->connections = 7 + i;
        snprintf(line->evidence, sizeof line->evidence, "seen %u", i);
        snprintf(line->remedy, sizeof line->remedy, "do %u", i);
    }
    assert_report_has(m,
                      "\"diagnosis\": [\n    {\n      \"limit\": \"backlog\",\n"
                      "      \"connections\": 7,\n      \"evidence\": \"seen 0\",\n"
                      "      \"remedy\": \"do 0\"\n    },\n    {\n"
                      "      \"limit\": \"ports\",\n      \"connections\": 8,\n"
                      "      \"evidence\": \"seen 1\",\n      \"remedy\": \"do 1\"\n    }\n  ],");
}

static void verdict_is_known_at_the_end(void **state)
{
    struct made_up *m = *state;

    assert_report_has(m, "\"interrupted\": false,\n  \"broken_law\": null,\n"
                         "  \"verdict\": \"SUSPECT\",\n  \"reasons\": [\n    \"unsent\"\n  ],\n"
                         "  \"explanations\": [\n    \"unsent: 3 of 1,003 queries");
    m->result.doubts = 0;
    assert_report_has(m, "\"verdict\": \"VALID\",\n  \"reasons\": [],\n  \"explanations\": [],\n");
    m->result.interrupted = true;
    m->result.broken_law = "sent = answered";
    assert_report_has(m, "\"interrupted\": true,\n  \"broken_law\": \"sent = answered\",\n");
    m->result.state = CLIENT_RUN_RUNNING;
    assert_report_has(m, "\"verdict\": null,\n");
    assert_report_has(m, "\"valid_to\": null,\n  \"holds\": null\n}");
}

static void each_reason_for_doubt_is_named_and_explained(void **state)
{
    struct made_up *m = *state;
    char wanted[200], text[VERDICT_TEXT_BYTES];

    for (int i = 0; i < VERDICT_N_REASONS; i++) {
        m->result.doubts = 1u << i;
        snprintf(wanted, sizeof wanted, "\"reasons\": [\n    \"%s\"\n  ],\n  \"explanations\": [\n",
                 verdict_name((enum verdict_reason)i));
        assert_report_has(m, wanted);
        snprintf(wanted, sizeof wanted, "    \"%.20s",
                 verdict_explain(text, &m->result.verdict, (enum verdict_reason)i));
        assert_report_has(m, wanted);
    }
}

static void percentiles_that_hold_are_named(void **state)
{
    struct made_up *m = *state;

    assert_report_has(m, "\"valid_to\": \"p99\",\n  \"holds\": {\n    \"p50\": true,\n"
                         "    \"p90\": true,\n    \"p95\": true,\n    \"p99\": true,\n"
                         "    \"p999\": false,\n    \"p9999\": true,\n    \"max\": true\n  }\n}");
    m->result.verdict.percentiles[1] = m->result.verdict.percentiles[4];
    assert_report_has(m, "\"valid_to\": \"p50\",");
    m->result.verdict.percentiles[0] = m->result.verdict.percentiles[4];
    assert_report_has(m, "\"valid_to\": \"none\",\n  \"holds\": {\n    \"p50\": false,");
    m->result.verdict.has_latency = false;
    assert_report_has(m, "\"valid_to\": null,\n  \"holds\": null\n}");
}

/* As the value of a key. */
static bool has_value(const char *text, size_t value)
{
    char wanted[2][40];

    snprintf(wanted[0], sizeof wanted[0], ": %zu,\n", value);
    snprintf(wanted[1], sizeof wanted[1], ": %zu\n", value); /* the last of an object */
    return strstr(text, wanted[0]) != NULL || strstr(text, wanted[1]) != NULL;
}

#define AT(count) offsetof(struct tally, count)

/* Counts only for other figures, the diagnosis or the laws. */
static bool is_internal(size_t offset)
{
    static const size_t internal[] = {
        AT(connections.replaced),
        AT(connections.unproven_unacknowledged),
        AT(connections.unresponsive_unproven),
        AT(connections.answering),
        AT(connections.opening_retransmits),
        AT(push.other_clock),
        AT(push.missed),
        AT(demand.carried),
    };

    for (size_t i = 0; i < sizeof internal / sizeof *internal; i++)
        if (internal[i] == offset)
            return true;
    return false;
}

/* In that of a run that uses everything, and of one that listens. */
static void every_count_is_in_the_json(void **state)
{
    enum { N = sizeof(struct tally) / sizeof(tally_count), FIRST = 20000 };
    struct made_up *m = *state;
    struct client_config *c = &m->config;
    tally_count *counts = (tally_count *)&m->result.tally;
    char *text, *of_listener, error[SRCPLAN_ERROR_BYTES];

    for (size_t i = 0; i < N; i++)
        tally_add(&counts[i], FIRST + i - tally_get(&counts[i]));
    c->tls = (struct tls_context *)m; /* the reports only check whether it is set */
    c->proxy = PROXY_HEADER_V2;
    srcplan_init(&c->identities);
    assert_int_equal(srcplan_add_sources(&c->identities, "10.0.0.1", error), 0);
    c->socket.datagrams = c->knows_drops = c->on_demand = c->keepalive = true;
    text = text_of(report_json, m);
    c->listens = true;
    of_listener = text_of(report_json, m);
    for (size_t i = 0; i < N; i++)
        if (!has_value(text, FIRST + i) && !has_value(of_listener, FIRST + i) &&
            !is_internal(i * sizeof(tally_count)))
            fail_msg("the JSON lacks the count at offset %zu of struct tally",
                     i * sizeof(tally_count));
    free(text);
    free(of_listener);
    srcplan_free(&c->identities);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(connections_are_counted_under_their_keys),
        TEST(queries_are_counted_under_their_keys),
        TEST(rows_are_counted_under_their_keys),
        TEST(times_are_under_their_keys),
        TEST(times_that_are_collected_at_the_end_are_unknown_until_then),
        TEST(rate_now_is_unknown_in_a_closed_loop),
        TEST(start_says_how_well_it_was_kept),
        TEST(measurement_that_did_not_begin_has_no_time),
        TEST(churn_is_that_of_a_run_that_reconnects),
        TEST(only_answers_to_dns_queries_have_codes),
        TEST(diagnosis_has_an_object_for_each_limit),
        TEST(verdict_is_known_at_the_end),
        TEST(each_reason_for_doubt_is_named_and_explained),
        TEST(percentiles_that_hold_are_named),
        TEST(every_count_is_in_the_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
