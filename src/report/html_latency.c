/* SPDX-License-Identifier: MIT
 * html_latency: the sections on times and rates: by percentile, over time, while connecting. */
#include "base/units.h"
#include "report/figure.h"
#include "report/history.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"

#include <stdio.h>

/* --- by percentile: a column per metric --- */

struct metric_name {
    const char *key, *title;
};

/* The times of a query and its answer, and this host's part of them and of the connections. */
static const struct metric_name query_metrics[] = {
    {"response", "response"}, {"service", "service"}, {"net", "net"}};
static const struct metric_name other_metrics[] = {
    {"send_lag", "send lag"},   {"own", "own delay"}, {"connect", "connect"},
    {"handshake", "handshake"}, {"gap", "gap"},       {"recovery", "recovery"},
    {"min_rtt", "min RTT"}};

enum { MOST_METRICS = 7, HOLDS_COLUMN = 1 };

struct metric_table {
    struct html_column columns[MOST_METRICS + 2];
    struct latency latencies[MOST_METRICS];
    size_t n; /* metrics */
    uint64_t timeouts_ns[MOST_METRICS];
    const struct json_object *holds; /* NULL: no such column */
};

static void take_metrics(struct metric_table *t, const struct html_report *r,
                         const struct metric_name *names, size_t n_names)
{
    t->n = 0;
    t->columns[0] = (struct html_column){"", true};
    for (size_t i = 0; i < n_names; i++)
        if (result_latency(r->result, names[i].key, &t->latencies[t->n]) &&
            t->latencies[t->n].count > 0) {
            t->timeouts_ns[t->n] = result_timeout_of_ns(r->result, names[i].key);
            t->columns[++t->n] = (struct html_column){names[i].title, false};
        }
    if (t->holds != NULL)
        t->columns[t->n + 1] = (struct html_column){"holds", false};
}

static size_t n_columns(const struct metric_table *t)
{
    return 1 + t->n + (t->holds != NULL);
}

/* value: of one metric, as text or NULL. */
static void
print_row(FILE *out, const struct metric_table *t, const char *title, const char *holds_key,
          const char *(*value)(char *text, const struct latency *l, int which, uint64_t timeout_ns),
          int which)
{
    char texts[MOST_METRICS][FIGURE_TEXT_BYTES];
    const char *cells[MOST_METRICS + 2] = {title};

    for (size_t i = 0; i < t->n; i++)
        cells[1 + i] = value(texts[i], &t->latencies[i], which, t->timeouts_ns[i]);
    if (t->holds != NULL && holds_key != NULL && result_find(t->holds, holds_key) != NULL)
        cells[1 + t->n] = result_flag(t->holds, holds_key) ? "yes" : "no";
    html_table_row(out, t->columns, cells, n_columns(t));
}

static const char *least(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)which;
    return figure_latency(text, l->min_ns, timeout_ns);
}

static const char *percentile(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    return figure_latency(text, l->percentiles_ns[which], timeout_ns);
}

static const char *most(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)which;
    return figure_latency(text, l->max_ns, timeout_ns);
}

static const char *mean(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)which;
    if (!(l->mean_ns >= 0 && l->mean_ns < 1e18))
        return NULL;
    return figure_latency(text, (uint64_t)(l->mean_ns + 0.5), timeout_ns);
}

static const char *count(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)timeout_ns;
    return figure_number(text, (double)(which == 0 ? l->count : l->over));
}

/* over: what it says of values that never came. */
static void print_table(FILE *out, const struct metric_table *t, const char *caption,
                        const char *over)
{
    html_table_begin(out, caption, t->columns, n_columns(t));
    print_row(out, t, "min", NULL, least, 0);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        print_row(out, t,
                  latency_percentiles[i].title != NULL ? latency_percentiles[i].title
                                                       : latency_percentiles[i].key,
                  latency_percentiles[i].key, percentile, i);
    print_row(out, t, "max", "max", most, 0);
    print_row(out, t, "mean", NULL, mean, 0);
    print_row(out, t, "values", NULL, count, 0);
    print_row(out, t, over, NULL, count, 1);
    html_table_end(out);
}

static void print_percentiles(FILE *script, const void *arg)
{
    html_plots_percentiles(script, arg);
}

void html_latency(struct html_report *r)
{
    struct metric_table t = {.holds = result_find(r->result, "holds")};
    bool has_curve = false;

    take_metrics(&t, r, query_metrics, sizeof query_metrics / sizeof *query_metrics);
    if (t.n == 0)
        return;
    for (int i = 0; i < HTML_PLOTS_METRICS; i++)
        has_curve |= html_plots_has_curve(r->metrics, html_plots_metrics[i]);
    fputs("<section>\n<h2>Latency by percentile</h2>\n<div class=\"pair\">\n", r->out);
    if (has_curve)
        html_picture(
            r->out, &r->can_draw,
            "Latency by percentile. Unanswered queries count as slower than every answer: a curve "
            "ends where they begin.",
            print_percentiles, r->metrics);
    else
        fputs("<p class=\"soft\">No curve: it needs the histogram log (--hlog) of each run.</p>\n",
              r->out);
    print_table(r->out, &t, "Times of queries", "unanswered");
    fputs("</div>\n<p class=\"soft\">response: intended send to answer; service: actual send to "
          "answer; "
          "net: actual send to arrival in the kernel. A dash: fewer than 10 values lie above, or "
          "unknown.",
          r->out);
    fputs(t.holds != NULL ? " holds: the figure is the server's, not this host's.</p>\n" : "</p>\n",
          r->out);
    t.holds = NULL;
    take_metrics(&t, r, other_metrics, sizeof other_metrics / sizeof *other_metrics);
    if (t.n > 0)
        print_table(r->out, &t, "Delays of this host, and times of connections", "never");
    fputs("</section>\n", r->out);
}

/* --- over time --- */

static void print_heat_map(FILE *script, const void *arg)
{
    html_plots_heat_map(script, arg);
}

struct rates {
    const struct history *history;
    double requested_qps;
};

static void print_rates(FILE *script, const void *arg)
{
    const struct rates *rates = arg;

    html_plots_rates(script, rates->history, rates->requested_qps);
}

/* 0: it changes during the run, or is unknown. */
static double constant_rate_qps(const struct json_object *result)
{
    double qps = 0;

    if (result_find(result, "options.schedule") == NULL && !result_flag(result, "options.stdin") &&
        !result_is_search(result))
        (void)result_double(result, "rate.asked_qps", &qps);
    return qps;
}

static void print_history(struct html_report *r, const struct history *h)
{
    const struct rates rates = {h, constant_rate_qps(r->result)};
    char step[FIGURE_TEXT_BYTES], caption[300];

    snprintf(caption, sizeof caption,
             "Response time over time: the stronger the colour, the more answers, on a logarithmic "
             "scale. A column is %s s, a row a %d%s of a decade.",
             figure_number(step, h->column_s), HISTORY_ROWS_PER_DECADE, "th");
    fputs("<section>\n<h2>Latency over time</h2>\n", r->out);
    if (h->most > 0)
        html_picture(r->out, &r->can_draw, caption, print_heat_map, h);
    fputs("</section>\n<section>\n<h2>Rate</h2>\n<div class=\"pair\">\n", r->out);
    html_picture(
        r->out, &r->can_draw,
        rates.requested_qps > 0
            ? "Queries sent and answered per second, by the time of sending and of the answer. "
              "The dashed line is the rate requested."
            : "Queries sent and answered per second, by the time of sending and of the answer.",
        print_rates, &rates);
}

static void print_rate_table(FILE *out, const struct json_object *result)
{
    static const struct html_column columns[] = {
        {"", true}, {"queries", false}, {"per second", false}};
    static const struct {
        const char *title, *path;
    } rows[] = {{"scheduled", "queries.scheduled"}, {"sent", "queries.sent"},
                {"answered", "queries.answered"},   {"timed out", "queries.timeout"},
                {"failed", "queries.error"},        {"cancelled", "queries.cancelled"},
                {"unsent", "queries.unsent"}};
    char texts[2][FIGURE_TEXT_BYTES];
    double duration_s = 0, n;

    (void)result_double(result, "rate.duration_s", &duration_s);
    html_table_begin(out, "Queries over the whole run", columns, 3);
    if (figure_rate(texts[0], result, "rate.asked_qps") != NULL)
        html_table_row(out, columns, (const char *[]){"requested", NULL, texts[0]}, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *per_s = NULL;

        if (duration_s > 0 && result_double(result, rows[i].path, &n))
            per_s = figure_per_s(texts[1], n / duration_s);
        html_table_row(
            out, columns,
            (const char *[]){rows[i].title, figure_count(texts[0], result, rows[i].path), per_s},
            3);
    }
    html_table_end(out);
}

void html_over_time(struct html_report *r)
{
    struct timeline timeline;
    struct history history = {0};

    if (recordings_timeline(r->runs, &timeline) == 0 && timeline.n > 0 &&
        history_make(&history, &timeline) == 0)
        print_history(r, &history);
    else
        fputs("<section>\n<h2>Rate</h2>\n<p class=\"soft\">Latency and rate over time need the "
              "histogram log (--hlog).</p>\n<div class=\"pair\">\n",
              r->out);
    print_rate_table(r->out, r->result);
    fputs("</div>\n</section>\n", r->out);
    history_free(&history);
    timeline_free(&timeline);
}

/* --- connect ramp --- */

static void print_ramp(FILE *script, const void *arg)
{
    html_plots_ramp(script, arg);
}

static void print_recovery(FILE *script, const void *arg)
{
    html_plots_recovery(script, arg);
}

void html_ramp(struct html_report *r)
{
    const struct json_object *result = r->result;
    char connected[FIGURE_TEXT_BYTES], elapsed[FIGURE_TEXT_BYTES], rate[FIGURE_TEXT_BYTES];
    double per_s, elapsed_s = 0;
    uint64_t n = 0;

    fputs("<section>\n<h2>Connecting</h2>\n<p>", r->out);
    if (figure_count(connected, result, "connections.connected") != NULL &&
        result_u64(result, "connections.connected", &n))
        html_printf(r->out, "%s %s established", connected,
                    units_noun(n, "connection", "connections"));
    if (result_double(result, "connections.connect_elapsed_s", &elapsed_s) && elapsed_s > 0 &&
        figure_seconds(elapsed, result, "connections.connect_elapsed_s") != NULL)
        html_printf(r->out, "; those before the load took %s", elapsed);
    if (result_double(result, "connections.connect_rate_per_s", &per_s) &&
        figure_number(rate, per_s) != NULL)
        html_printf(r->out, ", %s per second", rate);
    fputs(".</p>\n", r->out);
    fputs("<div class=\"pair\">\n", r->out);
    if (html_plots_has_ramp(r->runs))
        html_picture(r->out, &r->can_draw,
                     r->runs->n > 1
                         ? "Connect ramp: connections established, one curve per instance."
                         : "Connect ramp: connections established since the first connect.",
                     print_ramp, r->runs);
    if (html_plots_has_recovery(r->runs))
        html_picture(r->out, &r->can_draw,
                     "Recovery: connections lost, and back, since the first loss. Of several "
                     "losses in a slot, only the last one.",
                     print_recovery, r->runs);
    fputs("</div>\n</section>\n", r->out);
}
