/* SPDX-License-Identifier: MIT
 * report_text_latency: see client/report_text_latency.h. */
#include "client/report_text_latency.h"

#include "base/units.h"
#include "measure/latency_report.h"
#include "measure/verdict.h"

#include <math.h>

static void print_metric(FILE *out, const char *name, const struct client_result *r,
                         enum client_metric m, uint64_t timeout_ns)
{
    struct latency l;

    client_result_latency(r, m, &l);
    latency_report_text(out, name, LATENCY_REPORT_NAME, &l, timeout_ns);
}

/* Prints nothing if the run was too short. */
static void print_mean_error(FILE *out, const struct client_result *r)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    struct latency l;

    client_result_latency(r, CLIENT_RESPONSE, &l);
    if (isnan(l.mean_error_90_ns))
        return;
    fprintf(out, "  mean response +-%s at 90 %%, +-%s at 95 %% confidence\n",
            units_format_duration(a, (uint64_t)l.mean_error_90_ns),
            units_format_duration(b, (uint64_t)l.mean_error_95_ns));
}

static void print_holding(FILE *out, const struct verdict_input *in)
{
    bool holds[VERDICT_N_PERCENTILES];

    for (unsigned i = 0; i < VERDICT_N_PERCENTILES; i++)
        holds[i] = verdict_holds(in, i);
    latency_report_holds(out, LATENCY_REPORT_NAME, holds);
}

static void explain_holding(FILE *out, const struct verdict_input *in)
{
    for (unsigned i = 0; i < VERDICT_N_PERCENTILES; i++)
        if (!verdict_holds(in, i)) {
            fputs(in->of_messages
                      ? "  holds: whether send lag and this host's delays hardly affect the "
                        "percentile\n"
                      : "  holds: whether the percentile reflects the server, not this host\n",
                  out);
            return;
        }
}

static bool has_metric(const struct client_result *r, enum client_metric m)
{
    struct latency l;

    client_result_latency(r, m, &l);
    return l.count + l.over > 0;
}

/* Those have a table of their own. */
static bool is_of_arrivals(int m)
{
    return m >= CLIENT_OPEN_LAG && m < CLIENT_N_QUERY_METRICS;
}

static bool has_times(const struct client_result *r)
{
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        if (!is_of_arrivals(m) && has_metric(r, (enum client_metric)m))
            return true;
    return false;
}

static void explain_queries(FILE *out, const struct client_result *r, bool is_stamped)
{
    fprintf(out,
            "  response: intended send to answer%s%s;\n  unanswered queries count as slower than "
            "every answer; '-': fewer than 10 values above",
            has_metric(r, CLIENT_SERVICE) ? "; service: actual send to answer" : "",
            is_stamped && has_metric(r, CLIENT_NET) ? "; net: to arrival in the kernel" : "");
    if (has_metric(r, CLIENT_OWN))
        fprintf(out, ";\n  own delay: this host's part of the response: the send lag%s%s",
                is_stamped ? " and the time until the answer is read" : "",
                r->metrics[CLIENT_RESPONSE].beyond > 0
                    ? ";\n  this row covers answers only; the verdict also counts unanswered "
                      "queries, as its slowest"
                    : "");
    fputc('\n', out);
}

static void explain_messages(FILE *out, const struct client_result *r, bool is_stamped)
{
    fprintf(out,
            "  response: intended send to receipt; service: actual send to receipt%s;\n"
            "  '-': fewer than 10 values above",
            is_stamped && has_metric(r, CLIENT_NET) ? "; net: to arrival in the kernel" : "");
    if (has_metric(r, CLIENT_OWN))
        fprintf(out, ";\n  own delay: the server's send lag%s",
                is_stamped ? " and the time until the message is read" : "");
    fputc('\n', out);
}

static void explain_latency(FILE *out, const struct report_about *about,
                            const struct client_result *r)
{
    print_mean_error(out, r);
    if (about->config->listens)
        explain_messages(out, r, about->config->socket.stamp_received);
    else
        explain_queries(out, r, about->config->socket.stamp_received);
    explain_holding(out, &r->verdict);
}

void report_text_latency(FILE *out, const struct report_about *about, const struct client_result *r)
{
    /* a lost message is not waited for */
    const uint64_t timeout_ns = about->config->listens ? LATENCY_NEVER : about->config->timeout_ns;

    if (!has_times(r))
        return;
    fputc('\n', out);
    latency_report_head(out, "Time", LATENCY_REPORT_NAME);
    print_metric(out, "response", r, CLIENT_RESPONSE, timeout_ns);
    print_holding(out, &r->verdict);
    print_metric(out, "service", r, CLIENT_SERVICE, timeout_ns);
    print_metric(out, "send lag", r, CLIENT_SEND_LAG, timeout_ns);
    if (about->config->socket.stamp_received)
        print_metric(out, "net", r, CLIENT_NET, timeout_ns);
    print_metric(out, "own delay", r, CLIENT_OWN, timeout_ns);
    print_metric(out, "connect", r, CLIENT_CONNECT, LATENCY_NEVER);
    print_metric(out, "handshake", r, CLIENT_HANDSHAKE, LATENCY_NEVER);
    print_metric(out, "gap", r, CLIENT_GAP, LATENCY_NEVER);
    print_metric(out, "recovery", r, CLIENT_RECOVERY, LATENCY_NEVER);
    print_metric(out, "min RTT", r, CLIENT_MIN_RTT, LATENCY_NEVER);
    if (has_metric(r, CLIENT_RESPONSE))
        explain_latency(out, about, r);
}
