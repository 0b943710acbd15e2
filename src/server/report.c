/* SPDX-License-Identifier: MIT
 * server_report: see server/report.h. */
#include "server/report.h"

#include "base/json.h"
#include "base/units.h"
#include "config/options_json.h"
#include "measure/outcome_report.h"
#include "measure/result_json.h"

#include <errno.h>
#include <inttypes.h>

static const char *count_text(char *buffer, const tally_count *count)
{
    return units_format_count(buffer, tally_get(count));
}

/* --- text --- */

static void put_refusals(FILE *out, const struct server_tally *t)
{
    char text[UNITS_TEXT_BYTES];
    const char *between = "Refused      ";

    for (int i = 0; i < SERVER_N_REFUSALS; i++)
        if (tally_get(&t->refused[i]) > 0) {
            fprintf(out, "%s%s: %s", between, server_refusal_name((enum server_refusal)i),
                    count_text(text, &t->refused[i]));
            between = ", ";
        }
    if (tally_get(&t->n_refused) > 0)
        fputc('\n', out);
}

void server_report_text(FILE *out, const struct server_result *r)
{
    const struct server_tally *t = &r->total;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];
    uint64_t overflows = host_counters_delta(r->now.listen_overflows, r->before.listen_overflows);
    uint64_t pressures = host_counters_memory_pressures(&r->now, &r->before);

    fprintf(out, "tcpserver %s on %s, %" PRIu32 " %s, %s\n", r->version, r->address, r->n_workers,
            units_noun(r->n_workers, "thread", "threads"), units_format_duration(a, r->elapsed_ns));
    fprintf(out, "Connections  %s accepted, %s active, %s at the peak, %s refused\n",
            count_text(a, &t->accepted), units_format_count(b, r->active),
            units_format_count(c, r->peak), count_text(d, &t->n_refused));
    put_refusals(out, t);
    if (r->has_headers)
        fprintf(out, "PROXY        %s %s, %s without a client\n", count_text(a, &t->headers),
                units_noun(tally_get(&t->headers), "header", "headers"),
                count_text(b, &t->headers_local));
    if (r->has_tls)
        fprintf(out, "TLS          %s %s, %s resumed\n", count_text(a, &t->secured),
                units_noun(tally_get(&t->secured), "handshake", "handshakes"),
                count_text(b, &t->resumed));
    fprintf(out, "Bytes        %s received, %s sent\n", count_text(a, &t->bytes_received),
            count_text(b, &t->bytes_sent));
    if (r->pushes)
        fprintf(out, "Push         %s %s pushed, %s dropped because socket buffers were full\n",
                count_text(a, &t->pushed), units_noun(tally_get(&t->pushed), "message", "messages"),
                count_text(b, &t->push_dropped));
    fprintf(out, "Pauses       accepting paused %s %s, reading %s %s (peer not reading)\n",
            count_text(a, &t->accept_pauses),
            units_noun(tally_get(&t->accept_pauses), "time", "times"),
            count_text(b, &t->back_pressure_pauses),
            units_noun(tally_get(&t->back_pressure_pauses), "time", "times"));
    fprintf(out, "Host         %.2f s user, %.2f s system, %s resident at the peak",
            (double)(r->now.user_us - r->before.user_us) / 1e6,
            (double)(r->now.system_us - r->before.system_us) / 1e6,
            units_format_bytes(a, r->now.peak_rss_bytes));
    if (overflows != HOST_COUNTERS_UNKNOWN)
        fprintf(out, ", %s listen %s", units_format_count(a, overflows),
                units_noun(overflows, "overflow", "overflows"));
    if (pressures != HOST_COUNTERS_UNKNOWN && pressures > 0)
        fprintf(out, ", TCP memory pressure %s %s", units_format_count(a, pressures),
                units_noun(pressures, "time", "times"));
    fputc('\n', out);
    outcome_report_text(out, "Closed", t->closed, false);
}

void server_report_line(FILE *out, const struct server_result *r,
                        const struct server_tally *previous, uint64_t interval_ns)
{
    const struct server_tally *t = &r->total;
    const double seconds = (double)interval_ns / 1e9;

    fprintf(out,
            "%s: %.1f s, %" PRIu64 " active, %.0f accepted/s, %.0f closed/s, "
            "%.3f MB/s in, %.3f MB/s out, %" PRIu64 " refused",
            program_invocation_short_name, (double)r->elapsed_ns / 1e9, r->active,
            (double)(tally_get(&t->accepted) - tally_get(&previous->accepted)) / seconds,
            (double)(tally_get(&t->n_closed) - tally_get(&previous->n_closed)) / seconds,
            (double)(tally_get(&t->bytes_received) - tally_get(&previous->bytes_received)) / 1e6 /
                seconds,
            (double)(tally_get(&t->bytes_sent) - tally_get(&previous->bytes_sent)) / 1e6 / seconds,
            tally_get(&t->n_refused));
    if (r->pushes)
        fprintf(out, ", %.0f pushed/s, %" PRIu64 " dropped",
                (double)(tally_get(&t->pushed) - tally_get(&previous->pushed)) / seconds,
                tally_get(&t->push_dropped));
    fputc('\n', out);
}

/* --- JSON --- */

static void put_tally(struct json *j, const struct server_tally *t)
{
    json_u64(j, "accepted", tally_get(&t->accepted));
    json_u64(j, "refused", tally_get(&t->n_refused));
    json_object_begin(j, "refused_by");
    for (int i = 0; i < SERVER_N_REFUSALS; i++)
        json_u64(j, server_refusal_name((enum server_refusal)i), tally_get(&t->refused[i]));
    json_object_end(j);
    json_u64(j, "proxy_headers", tally_get(&t->headers));
    json_u64(j, "proxy_headers_local", tally_get(&t->headers_local));
    json_u64(j, "proxy_header_bytes", tally_get(&t->header_bytes));
    json_u64(j, "tls_handshakes", tally_get(&t->secured));
    json_u64(j, "tls_resumed", tally_get(&t->resumed));
    json_u64(j, "bytes_received", tally_get(&t->bytes_received));
    json_u64(j, "bytes_sent", tally_get(&t->bytes_sent));
    json_u64(j, "pushed", tally_get(&t->pushed));
    json_u64(j, "push_dropped", tally_get(&t->push_dropped));
    json_u64(j, "accept_pauses", tally_get(&t->accept_pauses));
    json_u64(j, "back_pressure_pauses", tally_get(&t->back_pressure_pauses));
    outcome_report_json(j, "closed", t->closed);
}

void server_report_json(FILE *out, const struct server_result *r)
{
    static const char *const states[] = {"running", "paused", "ended"};
    struct json j;

    _Static_assert(sizeof states / sizeof *states == SERVER_N_STATES, "one for each");
    result_json_begin(&j, out, "tcpserver", r->version);
    result_json_run(&j, states[r->state], r->started_epoch_ns);
    json_string(&j, "address", r->address);
    json_string(&j, "libevent", r->libevent);
    json_string(&j, "backend", r->backend);
    options_json(r->options, r->settings, &j, "options");
    json_double(&j, "elapsed_s", (double)r->elapsed_ns / 1e9);
    json_u64(&j, "active", r->active);
    json_u64(&j, "peak", r->peak);
    put_tally(&j, &r->total);
    json_known_u64(&j, "listen_overflows",
                   host_counters_delta(r->now.listen_overflows, r->before.listen_overflows));
    json_known_u64(&j, "listen_drops",
                   host_counters_delta(r->now.listen_drops, r->before.listen_drops));
    json_known_u64(&j, "tcp_memory_pressures", host_counters_memory_pressures(&r->now, &r->before));
    json_known_u64(&j, "tcp_memory_bytes", r->now.tcp_memory_bytes);
    json_known_u64(&j, "rss_bytes", r->now.rss_bytes);
    json_known_u64(&j, "peak_rss_bytes", r->now.peak_rss_bytes);
    json_double(&j, "user_s", (double)(r->now.user_us - r->before.user_us) / 1e6);
    json_double(&j, "system_s", (double)(r->now.system_us - r->before.system_us) / 1e6);
    json_array_begin(&j, "workers");
    for (uint32_t i = 0; i < r->n_workers; i++) {
        json_object_begin(&j, NULL);
        json_u64(&j, "active", server_tally_active(r->workers[i]));
        put_tally(&j, r->workers[i]);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
}
