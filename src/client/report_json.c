/* SPDX-License-Identifier: MIT
 * report_json: prints the result for programs.  See client/report.h.  Changing a documented key
 * requires a changelog line. */
#include "client/report.h"

#include "base/clock.h"
#include "base/json.h"
#include "client/report_class.h"
#include "client/report_demand.h"
#include "client/report_goals.h"
#include "client/report_json_host.h"
#include "client/report_json_queries.h"
#include "client/report_recovery.h"
#include "client/report_servers.h"
#include "client/report_sweep.h"
#include "client/report_transport.h"
#include "config/options_json.h"
#include "measure/latency_report.h"
#include "measure/outcome_report.h"
#include "measure/result_json.h"
#include "measure/verdict.h"
#include "protocol/dns_rcode.h"

#include <math.h>

static void put_count(struct json *j, const char *key, const tally_count *count)
{
    json_u64(j, key, tally_get(count));
}

static void put_connections(struct json *j, const struct client_result *r)
{
    const uint64_t connected = tally_get(&r->tally.connections.connected);

    json_object_begin(j, "connections");
    json_u64(j, "asked", r->connections_requested);
    put_count(j, "attempted", &r->tally.connections.attempted);
    put_count(j, "reopened", &r->tally.connections.reopened);
    put_count(j, "held", &r->tally.connections.held);
    json_u64(j, "connected", connected);
    put_count(j, "proven", &r->tally.connections.proven);
    put_count(j, "syn_retransmits", &r->tally.connections.syn_retransmits);
    put_count(j, "retransmits", &r->tally.connections.retransmits);
    put_count(j, "with_retransmits", &r->tally.connections.with_retransmits);
    put_count(j, "needless_retransmits", &r->tally.connections.needless_retransmits);
    json_u64(j, "lost_segments", client_result_lost_segments(r));
    json_u64(j, "half_open", r->connections_half_open);
    put_count(j, "with_timeouts", &r->tally.connections.with_timeouts);
    json_u64(j, "unresponsive_at_end", r->connections_unresponsive);
    put_count(j, "unresponsive_unacknowledged", &r->tally.connections.unresponsive_unacknowledged);
    json_u64(j, "failed", client_result_n_failed(r));
    json_u64(j, "wanted_at_end", r->connections_wanted);
    json_u64(j, "live_at_end", r->connections_live);
    json_double(j, "connect_rate_per_s",
                r->connect_elapsed_ns > 0 ? client_result_connect_rate_per_s(r) : NAN);
    json_double(j, "connect_elapsed_s",
                r->connect_elapsed_ns > 0 ? (double)r->connect_elapsed_ns / 1e9 : NAN);
    outcome_report_json(j, "outcomes", r->tally.connections.ended);
    json_object_end(j);
}

/* Replacement connections: the achieved rate and the one that TIME_WAIT allows. */
static void put_churn(struct json *j, const struct report_about *about,
                      const struct client_result *r)
{
    json_object_begin(j, "churn");
    json_double(j, "per_s",
                about->config->reconnect && r->load_ns > 0 ? client_result_churn_per_s(r) : NAN);
    json_known_u64(j, "most_per_s", about->churn_most_per_s);
    json_object_end(j);
}

static void put_queries(struct json *j, const struct client_result *r)
{
    const struct tally *t = &r->tally;

    json_object_begin(j, "queries");
    report_json_queries(j, &t->queries[TALLY_MEASURED]);
    json_u64(j, "in_flight", r->in_flight);
    put_count(j, "late", &t->late);
    put_count(j, "duplicate", &t->duplicate);
    put_count(j, "unknown_id", &t->unknown_id);
    put_count(j, "ids_recycled", &t->ids_recycled);
    put_count(j, "withdrawn", &t->withdrawn);
    outcome_report_json(j, "outcomes", t->errors);
    json_object_end(j);
    json_object_begin(j, "warmup");
    report_json_queries(j, &t->queries[TALLY_WARMUP]);
    json_object_end(j);
    json_object_begin(j, "probes");
    report_json_queries(j, &t->queries[TALLY_PROBE]);
    json_object_end(j);
}

static void put_answers(struct json *j, const struct report_about *about,
                        const struct client_result *r)
{
    if (!json_object_begin_if(j, "answers",
                              !about->config->listens && about->config->query.protocol->has_code))
        return;
    json_object_begin(j, "rcodes");
    for (unsigned rcode = 0; rcode < DNS_RCODE_N; rcode++)
        if (tally_get(&r->tally.answers.by_code[1 + rcode]) > 0)
            put_count(j, dns_rcode_name(rcode), &r->tally.answers.by_code[1 + rcode]);
    json_object_end(j);
    put_count(j, "echoed", &r->tally.answers.by_code[0]);
    put_count(j, "truncated", &r->tally.answers.truncated);
    json_object_end(j);
}

static void put_rate(struct json *j, const struct report_about *about,
                     const struct client_result *r)
{
    json_object_begin(j, "rate");
    json_double(j, "asked_qps",
                about->has_queries && about->config->loop == CLIENT_LOOP_OPEN ? about->rate_qps
                                                                              : NAN);
    json_double(j, "achieved_qps",
                r->sent_ns > 0 && !about->config->listens ? client_result_achieved_qps(r) : NAN);
    json_double(j, "duration_s", (double)r->scheduled_ns / 1e9);
    json_double(j, "now_qps",
                r->state != CLIENT_RUN_ENDED && client_config_has_rate(about->config)
                    ? r->rate_now_qps
                    : NAN);
    json_double(j, "paused_s", (double)r->paused_ns / 1e9);
    json_object_end(j);
}

/* null if the run sends queries. */
static void put_push(struct json *j, const struct report_about *about,
                     const struct client_result *r)
{
    const struct tally_push *p = &r->tally.push;
    const uint64_t all = tally_get(&p->before) + tally_get(&p->measured) + tally_get(&p->after);
    const uint64_t others = tally_get(&p->other_clock);

    if (!json_object_begin_if(j, "push", about->config->listens))
        return;
    put_count(j, "measured", &p->measured);
    put_count(j, "before", &p->before);
    put_count(j, "after", &p->after);
    put_count(j, "lost", &p->lost);
    put_count(j, "duplicate", &p->duplicate);
    put_count(j, "damaged", &p->damaged);
    put_count(j, "unfinished_connections", &p->unfinished);
    json_double(j, "messages_per_s", r->scheduled_ns > 0 ? client_result_messages_per_s(r) : NAN);
    json_string(j, "clock",
                all == 0        ? NULL
                : others == 0   ? "monotonic"
                : others == all ? "realtime"
                                : "mixed");
    put_count(j, "negative", &p->negative);
    json_double(j, "least_ns",
                tally_get(&p->negative) > 0 && r->state == CLIENT_RUN_ENDED
                    ? (double)r->push_least_ns
                    : NAN);
    json_object_end(j);
}

/* Times per connection are collected at the end. */
static void put_metric(struct json *j, const char *key, const struct client_result *r,
                       enum client_metric m)
{
    struct latency l;

    if (r->state != CLIENT_RUN_ENDED && m >= CLIENT_N_QUERY_METRICS) {
        json_null(j, key);
        return;
    }
    client_result_latency(r, m, &l);
    latency_report_json(j, key, &l);
}

static void put_latency(struct json *j, const struct report_about *about,
                        const struct client_result *r)
{
    json_object_begin(j, "latency_ns");
    put_metric(j, "response", r, CLIENT_RESPONSE);
    put_metric(j, "service", r, CLIENT_SERVICE);
    put_metric(j, "send_lag", r, CLIENT_SEND_LAG);
    put_metric(j, "net", r, CLIENT_NET);
    put_metric(j, "own", r, CLIENT_OWN);
    put_metric(j, "connect", r, CLIENT_CONNECT);
    put_metric(j, "handshake", r, CLIENT_HANDSHAKE);
    put_metric(j, "gap", r, CLIENT_GAP);
    put_metric(j, "recovery", r, CLIENT_RECOVERY);
    put_metric(j, "min_rtt", r, CLIENT_MIN_RTT);
    put_metric(j, "open_lag", r, CLIENT_OPEN_LAG);
    put_metric(j, "due_to_connected", r, CLIENT_DUE_CONNECTED);
    put_metric(j, "due_to_secured", r, CLIENT_DUE_SECURED);
    put_metric(j, "due_to_answered", r, CLIENT_DUE_ANSWERED);
    put_metric(j, "open_to_answered", r, CLIENT_OPEN_ANSWERED);
    report_class_json_latency(j, about, r);
    json_object_end(j);
}

static void put_rows(struct json *j, const char *key, const struct client_result *r, uint64_t n)
{
    json_known_u64(j, key, r->has_rows ? n : UINT64_MAX);
}

static void put_output(struct json *j, const struct client_result *r)
{
    json_object_begin(j, "output");
    put_rows(j, "rows", r, r->rows.written[0] + r->rows.written[1]);
    put_rows(j, "dropped_rows", r, r->rows.dropped[0] + r->rows.dropped[1]);
    put_rows(j, "answer_rows", r, r->rows.written[1]);
    put_rows(j, "dropped_answer_rows", r, r->rows.dropped[1]);
    put_rows(j, "left_out_rows", r, r->rows.left_out[0] + r->rows.left_out[1]);
    put_rows(j, "left_out_answer_rows", r, r->rows.left_out[1]);
    json_object_end(j);
}

/* The common start of several hosts, and how precisely this one kept it. */
static void put_start(struct json *j, const struct client_start *start)
{
    if (!json_object_begin_if(j, "start", start->requested))
        return;
    json_known_u64(j, "at_epoch_ns", start->at_epoch_ns > 0 ? start->at_epoch_ns : UINT64_MAX);
    json_double(j, "margin_s", start->at_epoch_ns > 0 ? (double)start->margin_ns / 1e9 : NAN);
    json_known_u64(j, "late_ns", start->late_ns);
    json_bool(j, "missed", start->missed);
    json_bool(j, "clock_is_synchronized", start->clock.is_synchronized);
    json_known_u64(j, "clock_max_error_ns", start->clock.max_error_ns);
    json_object_end(j);
}

static void put_diagnosis(struct json *j, const struct client_result *r)
{
    json_array_begin(j, "diagnosis");
    for (unsigned i = 0; i < r->diagnosis.n_lines; i++) {
        const struct diagnosis_line *line = &r->diagnosis.lines[i];

        json_object_begin(j, NULL);
        json_string(j, "limit", line->limit);
        json_u64(j, "connections", line->connections);
        json_string(j, "evidence", line->evidence);
        json_string(j, "remedy", line->remedy);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The percentiles of the response time that hold; null during the run or if there are none. */
static void put_holds(struct json *j, const struct client_result *r)
{
    const unsigned n = verdict_n_holding(&r->verdict);

    if (r->state != CLIENT_RUN_ENDED || !r->verdict.has_latency) {
        json_null(j, "valid_to");
        json_null(j, "holds");
        return;
    }
    json_string(j, "valid_to", n > 0 ? verdict_percentile_name(n - 1) : "none");
    json_object_begin(j, "holds");
    for (unsigned i = 0; i < VERDICT_N_PERCENTILES; i++)
        json_bool(j, i < LATENCY_N_PERCENTILES ? latency_percentiles[i].key : "max",
                  verdict_holds(&r->verdict, i));
    json_object_end(j);
}

static void put_verdict(struct json *j, const struct client_result *r)
{
    char text[VERDICT_TEXT_BYTES];

    json_bool(j, "interrupted", r->interrupted);
    json_string(j, "broken_law", r->broken_law);
    json_string(j, "verdict",
                r->state != CLIENT_RUN_ENDED ? NULL
                : r->doubts == 0             ? "VALID"
                                             : "SUSPECT");
    json_array_begin(j, "reasons");
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if (r->doubts & (1u << i))
            json_string(j, NULL, verdict_name((enum verdict_reason)i));
    json_array_end(j);
    json_array_begin(j, "explanations");
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if (r->doubts & (1u << i))
            json_string(j, NULL, verdict_explain(text, &r->verdict, (enum verdict_reason)i));
    json_array_end(j);
    put_holds(j, r);
}

static void put_command(struct json *j, char *const *command)
{
    json_array_begin(j, "command");
    for (; command != NULL && *command != NULL; command++)
        json_string(j, NULL, *command);
    json_array_end(j);
}

void report_json(FILE *out, const struct report_about *about, const struct client_result *r)
{
    static const char *const states[] = {"ended", "connecting", "running", "paused", "draining"};
    char measured[CLOCK_RFC3339_BYTES];
    struct json j;

    _Static_assert(sizeof states / sizeof *states == CLIENT_RUN_N_STATES, "one for each");
    result_json_begin(&j, out, "tcpclient", about->version);
    result_json_run(&j, states[r->state], r->started_epoch_ns);
    json_string(&j, "measured_from",
                r->scheduled_ns > 0 ? clock_rfc3339(measured, r->measured_epoch_ns) : NULL);
    put_start(&j, &r->start);
    json_string(&j, "target", about->target);
    put_command(&j, about->command);
    options_json(about->options, about->settings, &j, "options");
    json_u64(&j, "seed", about->config->seed);
    report_json_host(&j, about, r);
    put_connections(&j, r);
    put_churn(&j, about, r);
    report_recovery_json(&j, r);
    report_demand_json(&j, about, r);
    report_class_json(&j, about, r);
    report_transport_json(&j, about, r);
    put_queries(&j, r);
    put_answers(&j, about, r);
    put_rate(&j, about, r);
    put_push(&j, about, r);
    put_latency(&j, about, r);
    report_sweep_json(&j, r->sweep);
    report_json_resources(&j, r);
    report_json_sockets(&j, r);
    report_json_network(&j, r);
    report_servers_json(&j, r);
    report_json_cost(&j, r);
    put_output(&j, r);
    put_diagnosis(&j, r);
    report_goals_json(&j, &r->goals);
    put_verdict(&j, r);
    json_object_end(&j);
}
