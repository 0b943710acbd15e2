/* SPDX-License-Identifier: MIT
 * report_text: prints the summary for people, on stderr.  See client/report.h. */
#include "client/report.h"

#include "base/units.h"
#include "client/report_class.h"
#include "client/report_demand.h"
#include "client/report_goals.h"
#include "client/report_recovery.h"
#include "client/report_servers.h"
#include "client/report_sweep.h"
#include "client/report_text_arrivals.h"
#include "client/report_text_head.h"
#include "client/report_text_host.h"
#include "client/report_text_latency.h"
#include "client/report_transport.h"
#include "measure/answer_note.h"
#include "measure/latency_report.h"
#include "measure/outcome_report.h"
#include "measure/server_cost_report.h"
#include "measure/strays.h"
#include "measure/verdict.h"
#include "protocol/dns_rcode.h"

#include <string.h>

static const char *count_text(char *buffer, const tally_count *count)
{
    return units_format_count(buffer, tally_get(count));
}

/* --- counts --- */

static void print_churn(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const uint64_t n = tally_get(&r->tally.connections.reopened);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (!about->config->reconnect)
        return;
    fprintf(out, "             %s %s attempted, %s/s connected", units_format_count(a, n),
            units_noun(n, "replacement", "replacements"),
            units_format_tenths(b, client_result_churn_per_s(r)));
    if (about->churn_most_per_s != HOST_LIMITS_UNKNOWN)
        fprintf(out, ", at most %s/s sustainable with TIME_WAIT",
                units_format_count(b, about->churn_most_per_s));
    fputc('\n', out);
    if (r->has_sockets && r->sockets.time_wait > 0)
        fprintf(out, "             %s in TIME_WAIT towards the server at the end\n",
                units_format_count(a, r->sockets.time_wait));
}

static void print_losses(FILE *out, const struct losses *l)
{
    char n[UNITS_TEXT_BYTES], idle[LOSSES_TEXT_BYTES], answers[LOSSES_TEXT_BYTES];

    if (l->idle_us.count > 0)
        fprintf(out, "             %s closed by the server%s%s, %s\n",
                units_format_count(n, l->idle_us.count), losses_answers_of_each(l) > 0 ? " " : "",
                losses_format_answers(answers, l),
                losses_format_idle(idle, l, losses_least_idle_ns(l)));
}

static void print_retransmits(FILE *out, const struct tally *t)
{
    const uint64_t n = tally_get(&t->connections.retransmits);
    const uint64_t n_on = tally_get(&t->connections.with_retransmits);
    const uint64_t n_syns = tally_get(&t->connections.syn_retransmits);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    if (n > 0)
        fprintf(out, "             %s %s on %s %s, %s spurious\n", units_format_count(a, n),
                units_noun(n, "retransmit", "retransmits"), units_format_count(b, n_on),
                units_noun(n_on, "connection", "connections"),
                count_text(c, &t->connections.needless_retransmits));
    if (n_syns > 0) /* including those of connections that were never established */
        fprintf(out, "             %s SYN %s in all attempts\n", units_format_count(a, n_syns),
                units_noun(n_syns, "retransmit", "retransmits"));
}

static void print_connections(FILE *out, const struct report_about *about,
                              const struct client_result *r)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];
    const bool on_demand = about->config->on_demand;
    uint64_t connected = tally_get(&r->tally.connections.connected);

    fprintf(out, "Connections  %s requested, %s connected, %s proven, %s half-open\n",
            units_format_count(a, on_demand ? tally_get(&r->tally.demand.requested)
                                            : r->connections_requested),
            units_format_count(b, connected), count_text(c, &r->tally.connections.proven),
            units_format_count(d, r->connections_half_open));
    fprintf(out, "             %s live at the end", units_format_count(a, r->connections_live));
    if (r->connections_wanted < r->connections_requested && !on_demand)
        fprintf(out, ", of %s requested at that time",
                units_format_count(a, r->connections_wanted));
    if (connected > 0 && r->connect_elapsed_ns > 0) {
        const uint64_t n_first = client_result_n_first(r);

        fputs(connected > n_first ? "; the first" : ";", out);
        if (connected > n_first && n_first > 1)
            fprintf(out, " %s", units_format_count(d, n_first));
        fprintf(out, " opened in %s (%s/s)", units_format_duration(b, r->connect_elapsed_ns),
                units_format_rate(c, client_result_connect_rate_per_s(r)));
    }
    fputc('\n', out);
    if (r->gave_up)
        fprintf(out,
                "             gave up: none of the first connections (--connect-window) got an "
                "answer; %s not attempted\n",
                units_format_count(a, client_result_n_not_attempted(r)));
    if (r->n_futile > 0)
        fprintf(
            out,
            "             stopped opening: none of the last %s got an answer; %s not attempted\n",
            units_format_count(a, r->n_futile),
            units_format_count(b, client_result_n_not_attempted(r)));
    print_losses(out, &r->losses);
    print_churn(out, about, r);
    print_retransmits(out, &r->tally);
}

/* Share of the scheduled queries, rounded down: 100 % means all of them. */
static double success_percent(const struct tally_queries *q)
{
    return units_percent((double)tally_get(&q->answered) / (double)tally_get(&q->scheduled));
}

static void print_strays(FILE *out, const struct tally *t)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    if (tally_get(&t->late) + tally_get(&t->duplicate) + tally_get(&t->unknown_id) > 0)
        fprintf(out, "             stray answers%s: %s late, %s duplicate, %s with unknown id\n",
                strays_include(tally_get(&t->queries[TALLY_WARMUP].scheduled) > 0,
                               tally_get(&t->queries[TALLY_PROBE].timeout) > 0),
                count_text(a, &t->late), count_text(b, &t->duplicate),
                count_text(c, &t->unknown_id));
}

#define PRINT_UNANSWERED(count, word, which)                                                       \
    fprintf(out, "%s " word ", ", count_text(a, &q->count));

static void print_queries(FILE *out, const struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const uint64_t n_timed_out = tally_get(&r->tally.connections.with_timeouts);
    const uint64_t n_before = tally_get(&r->tally.queries[TALLY_WARMUP].scheduled);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

    fprintf(out, "Queries      %s scheduled, %s sent, %s answered", count_text(a, &q->scheduled),
            count_text(b, &q->sent), count_text(c, &q->answered));
    if (tally_get(&q->scheduled) > 0)
        fprintf(out, " (%.6g %% success)", success_percent(q));
    fputc('\n', out);
    fputs("             ", out);
    TALLY_UNANSWERED(PRINT_UNANSWERED)
    fprintf(out, "%s unsent\n", count_text(a, &q->unsent));
    if (n_timed_out > 0)
        fprintf(out, "             all timeouts%s are on %s %s, %s unresponsive at the end%s\n",
                n_before > 0 ? " (warm-up included)" : "", units_format_count(a, n_timed_out),
                units_noun(n_timed_out, "connection", "connections"),
                units_format_count(b, r->connections_unresponsive),
                r->connections_unresponsive > 0 ? ": their last queries timed out" : "");
    if (tally_get(&q->blocked) + tally_get(&q->rerouted) > 0)
        fprintf(out, "             %s waited for a free id, %s moved to another connection\n",
                count_text(a, &q->blocked), count_text(b, &q->rerouted));
    print_strays(out, &r->tally);
    if (n_before > 0)
        fprintf(out, "             %s more %s, not included\n", units_format_count(a, n_before),
                r->sweep != NULL ? "at the start of trials and in overloads" : "in the warm-up");
}

/* Prints nothing if every answer equals its query. */
static void print_answers(FILE *out, const struct client_result *r)
{
    const tally_count *by_code = r->tally.answers.by_code;
    const char *before = "Answers      ";
    char text[UNITS_TEXT_BYTES];

    if (tally_get(&by_code[0]) == tally_get(&r->tally.queries[TALLY_MEASURED].answered))
        return;
    for (unsigned rcode = 0; rcode < DNS_RCODE_N; rcode++)
        if (tally_get(&by_code[1 + rcode]) > 0) {
            fprintf(out, "%s%s %s", before, count_text(text, &by_code[1 + rcode]),
                    dns_rcode_name(rcode));
            before = ", ";
        }
    fprintf(out, ", %s truncated", count_text(text, &r->tally.answers.truncated));
    if (tally_get(&by_code[0]) > 0)
        fprintf(out, ", %s echoed", count_text(text, &by_code[0]));
    fputc('\n', out);
}

/* Queries that became due per second of the measurement. */
static double scheduled_qps(const struct client_result *r)
{
    return (double)tally_get(&r->tally.queries[TALLY_MEASURED].scheduled) * 1e9 /
           (double)r->scheduled_ns;
}

/* Prints nothing if the measurement did not begin. */
static void print_rate(FILE *out, const struct report_about *about, const struct client_result *r)
{
    char a[UNITS_TEXT_BYTES];

    if (r->sent_ns == 0)
        return;
    fprintf(out, "Rate         %s q/s achieved",
            units_format_tenths(a, client_result_achieved_qps(r)));
    if (r->scheduled_ns > 0)
        fprintf(out, ", %s scheduled", units_format_tenths(a, scheduled_qps(r)));
    if (about->has_queries && about->config->loop == CLIENT_LOOP_OPEN)
        fprintf(out, ", %s requested", report_text_head_rate(a, about, r));
    fprintf(out, ", measured for %s", units_format_duration(a, r->scheduled_ns));
    if (r->paused_ns > 0)
        fprintf(out, ", paused for %s", units_format_duration(a, r->paused_ns));
    fputc('\n', out);
}

/* --- messages --- */

/* Prints nothing without a message. */
static void print_clock(FILE *out, const struct client_result *r)
{
    const struct tally_push *p = &r->tally.push;
    const uint64_t others = tally_get(&p->other_clock);
    const uint64_t all = tally_get(&p->before) + tally_get(&p->measured) + tally_get(&p->after);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (all == 0)
        return;
    if (others == 0) {
        fputs("             timed with the CLOCK_MONOTONIC that both programs share\n", out);
        return;
    }
    fprintf(out,
            "             %s timed with the CLOCK_REALTIME of two hosts: %s below are off by\n"
            "             the difference between these clocks\n",
            others == all ? "all" : units_format_count(a, others),
            others == all ? "the times" : "their times");
    if (tally_get(&p->negative) > 0)
        fprintf(out, "             %s arrived before they were due, by up to %s; they count as 0\n",
                count_text(a, &p->negative), units_format_duration(b, (uint64_t)-r->push_least_ns));
}

static void print_messages(FILE *out, const struct client_result *r)
{
    const struct tally_push *p = &r->tally.push;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];

    fprintf(out, "Messages     %s received (%s/s), %s before and %s after the measurement\n",
            count_text(a, &p->measured), units_format_tenths(d, client_result_messages_per_s(r)),
            count_text(b, &p->before), count_text(c, &p->after));
    fprintf(out, "             %s lost, %s duplicate, %s damaged", count_text(a, &p->lost),
            count_text(b, &p->duplicate), count_text(c, &p->damaged));
    if (tally_get(&p->unfinished) > 0)
        fprintf(out, "; %s %s not read to the end", count_text(a, &p->unfinished),
                units_noun(tally_get(&p->unfinished), "connection", "connections"));
    fputc('\n', out);
    print_clock(out, r);
}

/* --- verdict --- */

static struct answer_counts count_answers(const struct report_about *about,
                                          const struct client_result *r)
{
    const tally_count *by_code = r->tally.answers.by_code;
    struct answer_counts c = {.n_truncated = (double)tally_get(&r->tally.answers.truncated),
                              .over_udp = about->config->socket.datagrams};

    answer_counts_add(&c, "echoed", (double)tally_get(&by_code[0]));
    for (unsigned rcode = 0; rcode < DNS_RCODE_N; rcode++)
        answer_counts_add(&c, dns_rcode_name(rcode), (double)tally_get(&by_code[1 + rcode]));
    return c;
}

/* What VALID does not say. */
static void print_answer_notes(FILE *out, const struct report_about *about,
                               const struct client_result *r)
{
    const struct answer_counts c = count_answers(about, r);
    char text[ANSWER_NOTE_BYTES];

    for (int i = 0; i < ANSWER_N_NOTES; i++)
        if (answer_note(text, &c, (enum answer_note_kind)i) != NULL)
            fprintf(out, "             %s\n", text);
}

static void print_verdict(FILE *out, const struct report_about *about,
                          const struct client_result *r)
{
    char text[VERDICT_TEXT_BYTES];

    fprintf(out, "Verdict      %s\n", verdict_headline(text, &r->verdict));
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if (r->doubts & (1u << i))
            fprintf(out, "             %s\n",
                    verdict_explain(text, &r->verdict, (enum verdict_reason)i));
    print_answer_notes(out, about, r);
    if (r->interrupted)
        fputs("             interrupted: the figures cover the part that ran\n", out);
    if (r->broken_law != NULL)
        fprintf(out, "             BUG in tcpclient: counts do not add up: %s\n", r->broken_law);
}

void report_text(FILE *out, const struct report_about *about, const struct client_result *r)
{
    report_text_head(out, about, r);
    print_connections(out, about, r);
    report_recovery_text(out, r);
    report_demand_text(out, about, r);
    report_transport_text(out, about, r);
    if (about->has_queries || r->sweep != NULL) {
        print_queries(out, r);
        print_answers(out, r);
        print_rate(out, about, r);
    }
    if (about->config->listens)
        print_messages(out, r);
    if (r->sweep == NULL)
        report_text_latency(out, about, r);
    report_class_text(out, about, r);
    report_text_arrivals(out, about, r);
    report_sweep_text(out, r->sweep);
    if (r->sweep == NULL)
        latency_report_bars(out,
                            about->config->listens
                                ? "Response time histogram (upper bound, messages)"
                                : "Response time histogram (upper bound, answers)",
                            &r->metrics[CLIENT_RESPONSE]);
    outcome_report_text(out, "Connection outcomes", r->tally.connections.ended, true);
    outcome_report_text(out, "Failed queries, by connection outcome", r->tally.errors, true);
    report_text_diagnosis(out, r);
    report_text_host(out, r);
    report_text_network(out, r);
    report_servers_text(out, r);
    if (r->cost != NULL)
        server_cost_report_text(out, r->cost);
    report_text_output(out, r);
    report_text_start(out, &r->start);
    report_goals_text(out, &r->goals);
    print_verdict(out, about, r);
}
