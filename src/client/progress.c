/* SPDX-License-Identifier: MIT
 * progress: see client/progress.h. */
#include "client/progress.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

enum { PERCENTILE_BYTES = UNITS_TEXT_BYTES + 1 };

/* "-" with too few samples, ">5.00 s" or "never" among the unanswered queries or lost messages. */
static const char *percentile_text(char text[PERCENTILE_BYTES], const struct progress *p,
                                   uint32_t num, uint32_t den)
{
    char timeout[UNITS_TEXT_BYTES];
    uint64_t value_ns;

    if (p->response == NULL || !hist_percentile_is_supported(p->response, num, den))
        return "-";
    value_ns = hist_percentile(p->response, num, den);
    if (value_ns != HIST_BEYOND)
        return units_format_duration(text, value_ns);
    if (p->listens)
        return "never";
    snprintf(text, PERCENTILE_BYTES, ">%s", units_format_duration(timeout, p->timeout_ns));
    return text;
}

static double per_s(const struct progress *p, uint64_t now, uint64_t previous)
{
    return now > previous ? (double)(now - previous) * 1e9 / (double)(p->now_ns - p->previous_ns)
                          : 0;
}

/* Returns the rate of n queries since the previous line, not counting the time before the schedule
 * started. */
static double queries_per_s(const struct progress *p, double n)
{
    const uint64_t since_ns = p->previous_ns > p->begin_ns ? p->previous_ns : p->begin_ns;

    return p->now_ns > since_ns ? n * 1e9 / (double)(p->now_ns - since_ns) : 0;
}

/* A whole number, but not 0 for a small rate: "20067", "0.4". */
static const char *rate_text(char text[UNITS_TEXT_BYTES], double rate)
{
    snprintf(text, UNITS_TEXT_BYTES, rate > 0 && rate < 1 ? "%.2g" : "%.0f", rate);
    return text;
}

static void print_connecting(FILE *out, const struct progress *p, const struct tally *now)
{
    const uint64_t connected = tally_get(&now->connections.connected);
    char rate[UNITS_TEXT_BYTES], wait[UNITS_TEXT_BYTES];

    fprintf(out,
            "connecting %.1f s, %" PRIu64 " of %" PRIu64 " connected, %" PRIu64 " proven, %s/s",
            (double)(p->now_ns - p->start_ns) / 1e9, connected, p->n_requested,
            tally_get(&now->connections.proven),
            rate_text(rate, per_s(p, connected, p->previous_connected)));
    if (p->wait_ns > 0)
        fprintf(out, ", starts in %s", units_format_duration(wait, p->wait_ns));
}

static void print_network(FILE *out, const struct progress *p)
{
    const struct netdev_counters *n = &p->net, *before = &p->previous_net;
    char in[UNITS_TEXT_BYTES], sent[UNITS_TEXT_BYTES];

    if (p->interface == NULL)
        return;
    fprintf(out, ", %s in %.0f packets/s %s/s, out %.0f packets/s %s/s", p->interface,
            per_s(p, n->rx_packets, before->rx_packets),
            units_format_bytes(in, (uint64_t)per_s(p, n->rx_bytes, before->rx_bytes)),
            per_s(p, n->tx_packets, before->tx_packets),
            units_format_bytes(sent, (uint64_t)per_s(p, n->tx_bytes, before->tx_bytes)));
}

static void print_time(FILE *out, const struct progress *p)
{
    if (p->now_ns > p->end_ns) {
        fprintf(out, "draining %.1f", (double)(p->now_ns - p->end_ns) / 1e9);
    } else {
        fprintf(out, "running %.1f", (double)(p->now_ns - p->begin_ns) / 1e9);
        if (p->end_ns != UINT64_MAX)
            fprintf(out, " of %.1f", (double)(p->end_ns - p->begin_ns) / 1e9);
    }
    fprintf(out, " s, %" PRIu64 " live", p->live);
    if (p->search != NULL)
        fprintf(out, ", %s", p->search);
}

static void print_listening(FILE *out, const struct progress *p, const struct tally_push *now,
                            uint64_t messages)
{
    char rate[UNITS_TEXT_BYTES], p50[PERCENTILE_BYTES], p99[PERCENTILE_BYTES];

    print_time(out, p);
    fprintf(out, ", %s messages/s, p50 %s, p99 %s, %" PRIu64 " lost",
            rate_text(rate, per_s(p, messages, p->previous_messages)),
            percentile_text(p50, p, 1, 2), percentile_text(p99, p, 99, 100), tally_get(&now->lost));
}

/* The number due is computed anew from the whole schedule for each line: a smaller part of it is an
 * error of rounding. */
#define ROUNDING_PART 1e-12

static bool was_any_due(const struct progress *p)
{
    return p->n_due - p->previous_due > p->n_due * ROUNDING_PART;
}

/* Queries of the warm-up and measured ones. */
struct counts {
    uint64_t sent, answered, lost, in_flight;
};

static void count(struct counts *n, const struct tally_queries *q)
{
    const uint64_t sent = tally_get(&q->sent), answered = tally_get(&q->answered);
    const uint64_t failed = tally_ended_unanswered(q);

    n->sent += sent;
    n->answered += answered;
    n->lost += failed + tally_get(&q->unsent);
    n->in_flight += sent > answered + failed ? sent - answered - failed : 0; /* read one by one */
}

static void print_running(FILE *out, const struct progress *p, const struct counts *n)
{
    char rate[UNITS_TEXT_BYTES], p50[PERCENTILE_BYTES], p99[PERCENTILE_BYTES];

    print_time(out, p);
    fprintf(out, ", %s", rate_text(rate, queries_per_s(p, (double)(n->sent - p->previous_sent))));
    if (was_any_due(p))
        fprintf(out, " of %s", rate_text(rate, queries_per_s(p, p->n_due - p->previous_due)));
    fprintf(out, " sent/s, p50 %s, p99 %s, %" PRIu64 " lost, %" PRIu64 " in flight",
            percentile_text(p50, p, 1, 2), percentile_text(p99, p, 99, 100), n->lost, n->in_flight);
    fprintf(out, ", %s answered/s",
            rate_text(rate, queries_per_s(p, (double)(n->answered - p->previous_answered))));
}

/* Most important figures first: a terminal may be narrow. */
void progress_print(FILE *out, struct progress *p, const struct tally *now)
{
    struct counts n = {0};
    const uint64_t messages =
        tally_get(&now->push.before) + tally_get(&now->push.measured) + tally_get(&now->push.after);

    count(&n, &now->queries[TALLY_WARMUP]);
    count(&n, &now->queries[TALLY_MEASURED]);
    fprintf(out, "%s: ", program_invocation_short_name);
    if (p->begin_ns == 0 || p->now_ns < p->begin_ns) {
        print_connecting(out, p, now);
    } else if (p->listens) {
        print_listening(out, p, &now->push, messages);
    } else {
        print_running(out, p, &n);
    }
    print_network(out, p);
    p->previous_ns = p->now_ns;
    p->previous_due = p->n_due;
    p->previous_sent = n.sent;
    p->previous_answered = n.answered;
    p->previous_messages = messages;
    p->previous_connected = tally_get(&now->connections.connected);
    p->previous_net = p->net;
}

void progress_show_in_place(FILE *terminal, const char *text, unsigned n_columns)
{
    static const char clear[] = "\r\033[K"; /* ECMA-48: erase to the end of the line */

    fprintf(terminal, "%s%.*s", clear, (int)n_columns, text != NULL ? text : "");
    fflush(terminal);
}
