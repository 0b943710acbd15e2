/* SPDX-License-Identifier: MIT
 * latency_report: see measure/latency_report.h. */
#include "measure/latency_report.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

enum { BAR_WIDTH = 40, PERCENTILE_WIDTH = 10 };

int latency_report_width(int width, const char *name)
{
    const int n = (int)strlen(name);

    return n > width ? n : width;
}

void latency_report_head(FILE *out, const char *title, int width)
{
    fprintf(out, "%-*s%*s", width, title, PERCENTILE_WIDTH, "min");
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].in_table)
            fprintf(out, "%10s", latency_percentiles[i].name);
    fprintf(out, "%10s%10s\n", "max", "mean");
}

void latency_report_percentile(FILE *out, uint64_t value_ns, uint64_t timeout_ns)
{
    char text[UNITS_TEXT_BYTES];

    if (value_ns == LATENCY_UNKNOWN)
        fprintf(out, "%10s", "-");
    else if (value_ns == HIST_BEYOND && timeout_ns == 0)
        fprintf(out, "%10s", ">timeout");
    else if (value_ns == HIST_BEYOND && timeout_ns == LATENCY_NEVER)
        fprintf(out, "%*s", PERCENTILE_WIDTH, "never");
    else if (value_ns == HIST_BEYOND)
        fprintf(out, "%*s%s",
                PERCENTILE_WIDTH - (int)strlen(units_format_duration(text, timeout_ns)), ">", text);
    else
        fprintf(out, "%*s", PERCENTILE_WIDTH, units_format_duration(text, value_ns));
}

void latency_report_text(FILE *out, const char *name, int width, const struct latency *l,
                         uint64_t timeout_ns)
{
    char text[UNITS_TEXT_BYTES];

    if (l->count + l->over == 0)
        return;
    fprintf(out, "%-*s%*s", width, name, PERCENTILE_WIDTH,
            l->count > 0 ? units_format_duration(text, l->min_ns) : "-");
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].in_table)
            latency_report_percentile(out, l->percentiles_ns[i], timeout_ns);
    fprintf(out, "%10s", l->count > 0 ? units_format_duration(text, l->max_ns) : "-");
    fprintf(out, "%10s\n",
            l->count > 0 ? units_format_duration(text, (uint64_t)(l->mean_ns + 0.5)) : "-");
}

void latency_report_holds(FILE *out, int width, const bool holds[LATENCY_N_PERCENTILES + 1])
{
    bool all = true;

    for (int i = 0; i <= LATENCY_N_PERCENTILES; i++)
        all &= holds[i];
    if (all)
        return;
    fprintf(out, "%-*s", width + PERCENTILE_WIDTH, "holds");
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].in_table)
            fprintf(out, "%10s", holds[i] ? "yes" : "no");
    fprintf(out, "%10s\n", holds[LATENCY_N_PERCENTILES] ? "yes" : "no");
}

/* Upper edges 1, 2, 5, 10, 20, 50 ... ns. */
static uint64_t next_edge(uint64_t edge)
{
    uint64_t lead = edge;

    while (lead >= 10)
        lead /= 10;
    return lead == 2 ? edge / 2 * 5 : edge * 2;
}

static uint64_t count_up_to(const struct hist *h, uint64_t edge_ns, uint32_t *index)
{
    uint64_t n = 0;

    while (*index < HIST_COUNTS && hist_lowest_of(*index) < edge_ns)
        n += h->counts[(*index)++];
    return n;
}

static void print_bar(FILE *out, uint64_t n, uint64_t most)
{
    int length = (int)((double)n * BAR_WIDTH / (double)most + 0.5);

    if (length > 0)
        fputc(' ', out);
    for (int i = 0; i < length; i++)
        fputc('#', out);
    fputc('\n', out);
}

void latency_report_bars(FILE *out, const char *title, const struct hist *h)
{
    uint64_t counts[64], edges[64], edge = 1, most = 1;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
    uint32_t index = 0;
    int n = 0;

    if (h->count == 0)
        return;
    fprintf(out, "\n%s\n", title);
    for (; n < 64 && index <= hist_index(h->max_ns); edge = next_edge(edge)) {
        uint64_t c = count_up_to(h, edge, &index);

        if (n == 0 && c == 0)
            continue;
        most = c > most ? c : most;
        edges[n] = edge;
        counts[n++] = c;
    }
    for (int i = 0; i < n; i++) {
        fprintf(out, "%10s %12s", units_format_duration(a, edges[i]),
                units_format_count(b, counts[i]));
        print_bar(out, counts[i], most);
    }
}

static void put_moments(struct json *j, const struct latency *l)
{
    const bool known = l->count > 0;

    json_known_u64(j, "min", known ? l->min_ns : UINT64_MAX);
    json_double(j, "mean", known ? l->mean_ns : NAN);
    json_double(j, "mean_error_90", known ? l->mean_error_90_ns : NAN);
    json_double(j, "mean_error_95", known ? l->mean_error_95_ns : NAN);
    json_double(j, "stddev", known ? l->stddev_ns : NAN);
    json_known_u64(j, "max", known ? l->max_ns : UINT64_MAX);
}

void latency_report_json(struct json *j, const char *key, const struct latency *l)
{
    json_object_begin(j, key);
    json_u64(j, "count", l->count);
    json_u64(j, "over", l->over);
    json_u64(j, "clamped", l->clamped);
    put_moments(j, l);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++) {
        const uint64_t value = l->percentiles_ns[i];

        if (value == LATENCY_UNKNOWN)
            json_null(j, latency_percentiles[i].key);
        else if (value == HIST_BEYOND)
            json_string(j, latency_percentiles[i].key, "beyond");
        else
            json_u64(j, latency_percentiles[i].key, value);
    }
    json_object_end(j);
}
