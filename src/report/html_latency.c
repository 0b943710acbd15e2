/* SPDX-License-Identifier: MIT
 * html_latency: the sections on times by percentile, and while connecting. */
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
    const bool of_listener = result_is_of_listener(r->result);
    const char *end = of_listener ? "receipt" : "answer";
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
            of_listener
                ? "Latency by percentile. Lost messages count as slower than every other: a "
                  "curve ends where they begin."
                : "Latency by percentile. Unanswered queries count as slower than every "
                  "answer: a curve ends where they begin.",
            print_percentiles, r->metrics);
    else
        fputs("<p class=\"soft\">No curve: it needs the histogram log (--hlog) of each run.</p>\n",
              r->out);
    if (of_listener)
        print_table(r->out, &t, "Times of messages", "lost");
    else
        print_table(r->out, &t, "Times of queries", "unanswered");
    fprintf(r->out,
            "</div>\n<p class=\"soft\">response: intended send to %s; service: actual send to %s; "
            "net: actual send to arrival in the kernel. A dash: fewer than 10 values lie above, or "
            "unknown.",
            end, end);
    fputs(t.holds != NULL ? " holds: the figure is the server's, not this host's.</p>\n" : "</p>\n",
          r->out);
    t.holds = NULL;
    take_metrics(&t, r, other_metrics, sizeof other_metrics / sizeof *other_metrics);
    if (t.n > 0)
        print_table(r->out, &t,
                    of_listener ? "Delays, and times of connections" /* the server's send lag */
                                : "Delays of this host, and times of connections",
                    "never");
    fputs("</section>\n", r->out);
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
