/* SPDX-License-Identifier: MIT
 * report_text_host: see client/report_text_host.h. */
#include "client/report_text_host.h"

#include "base/clock.h"
#include "base/units.h"
#include "measure/memory_per_connection.h"

void report_text_diagnosis(FILE *out, const struct client_result *r)
{
    char text[UNITS_TEXT_BYTES];

    if (r->diagnosis.n_lines > 0)
        fputs("\nLimiting factors\n", out);
    for (unsigned i = 0; i < r->diagnosis.n_lines; i++) {
        const struct diagnosis_line *line = &r->diagnosis.lines[i];

        fprintf(out, "%12s  %s: %s\n              -> %s\n",
                units_format_count(text, line->connections), line->limit, line->evidence,
                line->remedy);
    }
}

static void print_memory_per_connection(FILE *out, const struct client_result *r)
{
    const struct host_counters *before = &r->host_before, *after = &r->host_after;
    const uint64_t n_open = client_result_n_open(r);
    char text[UNITS_TEXT_BYTES];

    if (n_open < MEMORY_PER_CONNECTION_LEAST)
        return;
    if (after->rss_bytes != HOST_COUNTERS_UNKNOWN && after->rss_bytes > before->rss_bytes)
        fprintf(out, ", %s more per connection",
                units_format_bytes(text, (after->rss_bytes - before->rss_bytes) / n_open));
    if (after->slab_bytes != HOST_COUNTERS_UNKNOWN && before->slab_bytes != HOST_COUNTERS_UNKNOWN &&
        after->slab_bytes > before->slab_bytes)
        fprintf(out, "; kernel slab %s per connection",
                units_format_bytes(text, (after->slab_bytes - before->slab_bytes) / n_open));
}

void report_text_host(FILE *out, const struct client_result *r)
{
    const struct host_counters *before = &r->host_before, *after = &r->host_after;
    uint64_t overflows = host_counters_delta(after->listen_overflows, before->listen_overflows);
    uint64_t retransmits = host_counters_delta(after->retransmits, r->host_loaded.retransmits);
    const uint64_t n_switches = after->involuntary_switches - before->involuntary_switches;
    char a[UNITS_TEXT_BYTES];

    fprintf(out, "\nHost         %.2f s user, %.2f s system",
            (double)(after->user_us - before->user_us) / 1e6,
            (double)(after->system_us - before->system_us) / 1e6);
    if (after->rss_bytes != HOST_COUNTERS_UNKNOWN)
        fprintf(out, "; %s resident", units_format_bytes(a, after->rss_bytes));
    print_memory_per_connection(out, r);
    fputs("\n             ", out);
    if (r->loaded && retransmits != HOST_COUNTERS_UNKNOWN)
        fprintf(out, "%s %s under load, ", units_format_count(a, retransmits),
                units_noun(retransmits, "retransmit", "retransmits"));
    if (overflows != HOST_COUNTERS_UNKNOWN)
        fprintf(out, "%s listen %s, ", units_format_count(a, overflows),
                units_noun(overflows, "overflow", "overflows"));
    fprintf(out, "%s involuntary %s\n", units_format_count(a, n_switches),
            units_noun(n_switches, "switch", "switches"));
}

void report_text_network(FILE *out, const struct client_result *r)
{
    const struct netdev_counters *before = &r->net_loaded, *after = &r->net_after;
    const uint64_t n_in = after->rx_packets - before->rx_packets;
    const uint64_t n_out = after->tx_packets - before->tx_packets;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];

    if (!r->has_interface || !r->loaded)
        return;
    fprintf(out, "Network      %s under load: in %s %s, %s; out %s %s, %s\n", r->interface,
            units_format_count(a, n_in), units_noun(n_in, "packet", "packets"),
            units_format_bytes(b, after->rx_bytes - before->rx_bytes), units_format_count(c, n_out),
            units_noun(n_out, "packet", "packets"),
            units_format_bytes(d, after->tx_bytes - before->tx_bytes));
}

void report_text_output(FILE *out, const struct client_result *r)
{
    const uint64_t n_written = r->rows.written[0] + r->rows.written[1];
    const uint64_t n_missing = r->rows.dropped[0] + r->rows.dropped[1];
    const char *why = rows_failure(&r->rows);
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (!r->has_rows)
        return;
    if (n_written + n_missing == 0 && r->rows.error != 0)
        fputs("Raw output   nothing was written, not even the header", out);
    else
        fprintf(out, "Raw output   %s %s written, %s missing", units_format_count(a, n_written),
                units_noun(n_written, "row", "rows"), units_format_count(b, n_missing));
    if (r->rows.left_out[0] + r->rows.left_out[1] > 0)
        fprintf(out, ", %s not sampled",
                units_format_count(a, r->rows.left_out[0] + r->rows.left_out[1]));
    if (why != NULL)
        fprintf(out, ": %s", why);
    fputc('\n', out);
}

void report_text_start(FILE *out, const struct client_start *start)
{
    const bool is_after = start->margin_ns < 0;
    const uint64_t margin_ns =
        is_after ? 0 - (uint64_t)start->margin_ns : (uint64_t)start->margin_ns;
    char at[CLOCK_RFC3339_BYTES], margin[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES],
        error[UNITS_TEXT_BYTES];

    if (!start->requested || start->at_epoch_ns == 0)
        return;
    fprintf(out, "Start        at %s, known %s %s", clock_rfc3339(at, start->at_epoch_ns),
            units_format_duration(margin, margin_ns), is_after ? "after it" : "before");
    if (start->late_ns != UINT64_MAX)
        fprintf(out, "; first query %s late", units_format_duration(late, start->late_ns));
    if (!start->clock.is_synchronized)
        fputs("; clock not synchronized\n", out);
    else
        fprintf(out, "; clock within %s\n",
                units_format_duration(error, start->clock.max_error_ns));
}
