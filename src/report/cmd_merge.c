/* SPDX-License-Identifier: MIT
 * cmd_merge: tcpreport merge: loads the runs, merges them, warns about mismatches, and writes a
 * table, a result and a log. */
#include "base/log.h"
#include "base/output.h"
#include "base/outputs.h"
#include "base/units.h"
#include "measure/hlog.h"
#include "measure/latency_report.h"
#include "report/cmd.h"
#include "report/mismatch.h"
#include "report/opts.h"
#include "report/plain.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/total.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- warnings --- */

static void warn_of_missing_results(const struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].result == NULL)
            log_error("warning: %s has no result (--json): %s its verdict are unknown",
                      all->items[i].name,
                      all->items[i].has_rows ? "its unsent queries and" : "its counts and");
}

static bool has_times(const struct recording *r)
{
    const struct metric *response = metrics_find(&r->metrics, "response");

    return response != NULL && response->has_counts;
}

static void warn_of_missing_times(const struct recordings *all)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++)
        if (!has_times(&all->items[i]) && n++ == 0)
            first = all->items[i].name;
    if (n > 0)
        log_error("warning: the merged percentiles are unknown: the log (--hlog) or the rows (-R) "
                  "of %zu of %zu runs were not given, such as those of %s",
                  n, all->n, first);
}

static void warn_of_mismatch(void *context, const char *text)
{
    (void)context;
    log_error("warning: %s", text);
}

static void warn_of_all(const struct recordings *all)
{
    warn_of_missing_results(all);
    warn_of_missing_times(all);
    mismatch_find(all, warn_of_mismatch, NULL);
}

/* --- table --- */

static void print_count(const struct json_object *result, const char *path)
{
    char text[UNITS_TEXT_BYTES];
    uint64_t count;

    printf("%14s", result_u64(result, path, &count) ? units_format_count(text, count) : "-");
}

/* The counts in a line, and where the result has them. */
struct counts {
    const char *titles[2], *paths[2];
};

static const struct counts queries = {{"sent", "answered"}, {"queries.sent", "queries.answered"}};
static const struct counts messages = {{"received", "lost"}, {"push.measured", "push.lost"}};

static void print_line(int width, const char *name, const struct json_object *result,
                       const struct counts *counts, const struct latency *l, uint64_t timeout_ns)
{
    uint64_t seed;

    plain_print(stdout, name, width);
    if (result_u64(result, "seed", &seed))
        printf("%22" PRIu64, seed);
    else
        printf("%22s", "-");
    print_count(result, counts->paths[0]);
    print_count(result, counts->paths[1]);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].den <= 100 && latency_percentiles[i].in_table)
            latency_report_percentile(stdout, l->percentiles_ns[i], timeout_ns);
    latency_report_percentile(stdout, l->count > 0 ? l->max_ns : LATENCY_UNKNOWN, timeout_ns);
    printf("  %s\n", result == NULL ? "unknown" : result_verdict_name(result_verdict(result)));
}

/* Of no samples. */
static struct latency no_latency(void)
{
    struct latency l = {0};

    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        l.percentiles_ns[i] = LATENCY_UNKNOWN;
    return l;
}

static void latency_of_total(const struct total *total, const char *name, struct latency *l)
{
    const struct metric *metric = metrics_find(&total->metrics, name);

    *l = no_latency();
    if (metric != NULL)
        metrics_latency(metric, l);
}

/* Returns a time that every query without a value exceeded, in all runs; 0: unknown. */
static uint64_t least_timeout_ns(const struct recordings *all, const char *metric)
{
    uint64_t least_ns = LATENCY_NEVER;

    for (size_t i = 0; i < all->n; i++)
        if (result_timeout_of_ns(all->items[i].result, metric) < least_ns)
            least_ns = result_timeout_of_ns(all->items[i].result, metric);
    return least_ns;
}

/* Prints nothing if no instance has times. */
static void print_times(const struct recordings *all, const struct total *total)
{
    struct latency l;
    int width = LATENCY_REPORT_NAME;
    bool any = false;

    for (unsigned i = 0; i < total->metrics.n; i++) {
        metrics_latency(&total->metrics.items[i], &l);
        any |= l.count + l.over > 0;
        width = latency_report_width(width, total->metrics.items[i].name);
    }
    if (!any)
        return;
    putchar('\n');
    latency_report_head(stdout, "all", width);
    for (unsigned i = 0; i < total->metrics.n; i++) {
        const char *name = total->metrics.items[i].name;

        metrics_latency(&total->metrics.items[i], &l);
        latency_report_text(stdout, name, width, &l, least_timeout_ns(all, name));
    }
}

static void print_table(const struct recordings *all, const struct total *total)
{
    const struct counts *counts =
        result_is_of_listener(all->items[0].result) ? &messages : &queries;
    struct latency l;
    int width = (int)strlen("instance");

    for (size_t i = 0; i < all->n; i++)
        if (plain_columns(all->items[i].name) > width)
            width = plain_columns(all->items[i].name);
    printf("%-*s%22s%14s%14s%10s%10s%10s%10s  %s\n", width, "instance", "seed", counts->titles[0],
           counts->titles[1], "p50", "p90", "p99", "max", "verdict");
    for (size_t i = 0; i < all->n; i++) {
        if (!recording_latency(&all->items[i], "response", &l))
            l = no_latency();
        print_line(width, all->items[i].name, all->items[i].result, counts, &l,
                   result_timeout_of_ns(all->items[i].result, "response"));
    }
    latency_of_total(total, "response", &l);
    print_line(width, "all", total->result, counts, &l, least_timeout_ns(all, "response"));
    print_times(all, total);
}

/* --- files --- */

/* Whether the merged result has values of an interval's metric: not if it is unknown of any run. */
static bool has_values(const struct total *total, const struct timeline_entry *e)
{
    const struct metric *m = metrics_find(&total->metrics, e->tag[0] != '\0' ? e->tag : "response");

    return m != NULL && m->hist.count + m->hist.beyond > 0;
}

/* The earliest StartTime of all logs. */
static uint64_t first_start_ns(const struct recordings *all)
{
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].log_start_ns < first_ns)
            first_ns = all->items[i].log_start_ns;
    return first_ns;
}

static int put_log(FILE *out, const struct recordings *all, const struct total *total)
{
    struct timeline timeline;
    struct timeline_entry covered;
    struct hist h;
    size_t at = 0;
    int status = recordings_timeline(all, &timeline) | hist_init(&h);
    const uint64_t start_ns = timeline.n > 0 ? timeline_first_ns(&timeline) : first_start_ns(all);

    if (status == 0)
        hlog_begin(out, "tcpreport", TCPSCALER_VERSION, start_ns);
    while (status == 0 && (status = timeline_next(&timeline, &at, &covered, &h)) > 0)
        status = !has_values(total, &covered)
                     ? 0
                     : hlog_interval(out, covered.tag[0] != '\0' ? covered.tag : NULL,
                                     covered.begin_ns - start_ns, covered.length_ns, &h);
    hist_free(&h);
    timeline_free(&timeline);
    return status;
}

/* A file that cannot be emptied stays as it is. */
static int begin(struct output *o)
{
    const int status = output_begin(o);

    if (status != 0)
        output_abandon(o);
    return status;
}

/* Returns 0, or -1 if a requested file was not written. */
static int write_files(struct output *json, struct output *hlog, struct recordings *all,
                       const struct total *total)
{
    int status = begin(json) | begin(hlog);

    if (json->stream != NULL)
        total_print_json(json->stream, all, total);
    if (hlog->stream != NULL && put_log(hlog->stream, all, total) != 0) {
        output_abandon(hlog);
        status = log_error("out of memory");
    }
    status |= output_close(json);
    status |= output_close(hlog);
    return status;
}

/* Checks that the requested files can be made from these runs. */
static int check(const struct report_opts *o, const struct recordings *all)
{
    for (size_t i = 0; o->hlog != NULL && i < all->n; i++)
        if (!all->items[i].has_log)
            return log_error("--hlog: %s has no log: expected an --hlog file for every run",
                             all->items[i].name);
    return o->json != NULL ? recordings_need_results(all, "--json: ") : 0;
}

int cmd_merge(const struct report_opts *opts)
{
    struct recordings all;
    struct total total = {0};
    struct output json = OUTPUT_CLOSED, hlog = OUTPUT_CLOSED;
    int code = CMD_USAGE;

    if (recordings_load(&all, opts->files, (size_t)opts->n_files) == 0 && check(opts, &all) == 0 &&
        total_make(&total, &all) == 0 && output_open_document(&json, "json", opts->json) == 0 &&
        output_open_document(&hlog, "hlog", opts->hlog) == 0) {
        warn_of_all(&all);
        if (!outputs_is_stdout(&json) && !outputs_is_stdout(&hlog))
            print_table(&all, &total);
        code = total.result != NULL && result_verdict(total.result) == RESULT_VALID ? CMD_OK
                                                                                    : CMD_SUSPECT;
        if (write_files(&json, &hlog, &all, &total) != 0)
            code = CMD_UNWRITTEN;
    }
    output_close(&json);
    output_close(&hlog);
    total_free(&total);
    recordings_free(&all);
    return code;
}
