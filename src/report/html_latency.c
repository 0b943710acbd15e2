/* SPDX-License-Identifier: MIT
 * html_latency: the section on times by percentile. */
#include "report/figure.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <stdio.h>

/* --- by percentile: a column per metric --- */

struct metric_name {
    const char *key, *title;
};

/* The times of a query and its answer, this host's part of them, and the times of connections. */
static const struct metric_name query_metrics[] = {
    {"response", "response"}, {"service", "service"}, {"net", "net"}};
static const struct metric_name other_metrics[] = {
    {"send_lag", "send lag"},   {"own", "own delay"}, {"connect", "connect"},
    {"handshake", "handshake"}, {"gap", "gap"},       {"recovery", "recovery"},
    {"min_rtt", "min RTT"}};

/* The times of --connect-arrival: from when a connection was due, except the last one. */
static const struct metric_name arrival_metrics[] = {{"open_lag", "open lag"},
                                                     {"due_to_connected", "connected"},
                                                     {"due_to_secured", "secured"},
                                                     {"due_to_answered", "answered"},
                                                     {"open_to_answered", "open to answered"}};

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { MOST_METRICS = 7 };

_Static_assert(N_OF(query_metrics) <= MOST_METRICS && N_OF(other_metrics) <= MOST_METRICS &&
                   N_OF(arrival_metrics) <= MOST_METRICS,
               "a table has a column for each");

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
            t->latencies[t->n].count + t->latencies[t->n].over > 0) {
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

/* value: returns that of one metric, as text or NULL. */
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
    return l->count > 0 ? figure_latency(text, l->min_ns, timeout_ns) : NULL;
}

static const char *percentile(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    return figure_latency(text, l->percentiles_ns[which], timeout_ns);
}

static const char *most(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)which;
    return l->count > 0 ? figure_latency(text, l->max_ns, timeout_ns) : NULL;
}

static const char *mean(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)which;
    if (l->count == 0 || !(l->mean_ns >= 0 && l->mean_ns < 1e18))
        return NULL;
    return figure_latency(text, (uint64_t)(l->mean_ns + 0.5), timeout_ns);
}

static const char *count(char *text, const struct latency *l, int which, uint64_t timeout_ns)
{
    (void)timeout_ns;
    return figure_number(text, (double)(which == 0 ? l->count : l->over));
}

/* over: title of the row that counts values slower than any that was recorded. */
static void print_table(FILE *out, const struct metric_table *t, const char *caption,
                        const char *over)
{
    html_table_begin(out, caption, t->columns, n_columns(t));
    print_row(out, t, "min", NULL, least, 0);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        print_row(out, t, latency_percentiles[i].name, latency_percentiles[i].key, percentile, i);
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

static const char *why_no_curve(const struct html_report *r, bool of_listener)
{
    bool has_values = false;

    for (int i = 0; i < HTML_PLOTS_METRICS; i++) {
        const struct metric *m = metrics_find(r->metrics, html_plots_metrics[i]);

        if (m == NULL || m->hist.count == 0)
            continue;
        if (!m->has_counts)
            return "it needs the histogram log (--hlog) of each run";
        has_values = true;
    }
    if (has_values)
        return "there is only one value";
    return of_listener ? "no message was received" : "no query was answered";
}

static void print_curves(struct html_report *r, bool of_listener)
{
    bool has_curve = false;

    for (int i = 0; i < HTML_PLOTS_METRICS; i++)
        has_curve |= html_plots_has_curve(r->metrics, html_plots_metrics[i]);
    if (!has_curve)
        fprintf(r->out, "<p class=\"soft\">No curve: %s.</p>\n", why_no_curve(r, of_listener));
    else
        html_picture(
            r->out, &r->can_draw,
            of_listener
                ? "Latency by percentile. Lost messages count as slower than every other: a "
                  "curve ends where they begin."
                : "Latency by percentile. Unanswered queries count as slower than every "
                  "answer: a curve ends where they begin.",
            print_percentiles, r->metrics);
}

static void print_queries(struct html_report *r, const struct metric_table *t, bool of_listener)
{
    const char *end = of_listener ? "receipt" : "answer";

    fputs("<div class=\"pair\">\n", r->out);
    print_curves(r, of_listener);
    if (of_listener)
        print_table(r->out, t, "Times of messages", "lost or damaged");
    else
        print_table(r->out, t, "Times of queries", "unanswered");
    fprintf(r->out,
            "</div>\n<p class=\"soft\">response: intended send to %s; service: actual send to %s; "
            "net: actual send to arrival in the kernel. A dash: fewer than 10 values lie above, or "
            "unknown.",
            end, end);
    if (t->holds != NULL && of_listener)
        fputs(" holds: send lag and the delays of the client's host hardly affect the percentile.",
              r->out);
    else if (t->holds != NULL)
        fputs(" holds: the percentile reflects the server, not the client's host.", r->out);
    fputs("</p>\n", r->out);
}

void html_latency(struct html_report *r)
{
    const bool of_listener = result_is_of_listener(r->result);
    struct metric_table of_queries = {.holds = result_find(r->result, "holds")}, others = {0},
                        since_due = {0};

    take_metrics(&of_queries, r, query_metrics, N_OF(query_metrics));
    take_metrics(&others, r, other_metrics, N_OF(other_metrics));
    take_metrics(&since_due, r, arrival_metrics, N_OF(arrival_metrics));
    if (of_queries.n + others.n + since_due.n == 0)
        return;
    fputs("<section>\n<h2>Latency by percentile</h2>\n", r->out);
    if (of_queries.n > 0)
        print_queries(r, &of_queries, of_listener);
    if (others.n > 0)
        print_table(r->out, &others,
                    of_listener ? "Delays, and times of connections" /* the server's send lag */
                                : "Delays of the client's host, and times of connections",
                    "never");
    if (since_due.n > 0)
        print_table(r->out, &since_due, "Times of connections since they were due", "never");
    fputs("</section>\n", r->out);
}
