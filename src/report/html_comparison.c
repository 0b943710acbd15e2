/* SPDX-License-Identifier: MIT
 * html_comparison: the sections that set runs side by side: earlier ones, and the instances of
 * this one. */
#include "base/units.h"
#include "report/figure.h"
#include "report/fingerprint.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/run_group.h"

#include <stdlib.h>
#include <string.h>

/* --- earlier runs: a line for each metric --- */

/* One metric of the earlier runs: the values of those that have it. */
struct values {
    double *of_runs; /* sorted */
    size_t n;
    bool holds; /* in every run, this one included; only response times are judged */
};

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* A search for a rate and one for a number of connections have capacities that cannot be compared.
 */
static bool have_same_unit(const struct json_object *a, const struct json_object *b)
{
    const char *of_a = result_capacity_unit(a), *of_b = result_capacity_unit(b);

    return of_a == NULL || of_b == NULL ? of_a == of_b : strcmp(of_a, of_b) == 0;
}

static void take_values(struct values *v, const struct html_report *r, const struct run_metric *row)
{
    v->n = 0;
    v->holds = run_metric_holds(r->result, row);
    for (size_t i = 0; i < r->earlier->n; i++) {
        const struct json_object *earlier = r->earlier->items[i].result;

        v->n += (!row->of_search || have_same_unit(earlier, r->result)) &&
                run_metric_value(earlier, row, &v->of_runs[v->n]);
        v->holds &= run_metric_holds(earlier, row);
    }
    qsort(v->of_runs, v->n, sizeof *v->of_runs, by_value);
}

/* A time, a capacity in `unit`, or the share of the queries that were answered. */
static const char *value_text(char *text, const struct run_metric *row, const char *unit,
                              double value)
{
    char number[FIGURE_TEXT_BYTES];

    if (row->percentile != NULL)
        return units_format_duration(text, (uint64_t)(value + 0.5));
    if (row->of_search) {
        if (figure_number(number, value) == NULL)
            return NULL;
        snprintf(text, FIGURE_TEXT_BYTES, "%.30s %.15s", number, unit != NULL ? unit : "");
        return text;
    }
    snprintf(text, FIGURE_TEXT_BYTES, "%.4f %%", units_percent(value));
    return text;
}

static const struct html_column metric_columns[] = {
    {"metric", true},  {"this run", false}, {"earlier: runs", false}, {"median", false},
    {"lowest", false}, {"highest", false},  {"change", false},        {"holds in all", false}};

enum { N_METRIC_COLUMNS = 8 };

static void print_metric(const struct html_report *r, const struct run_metric *row,
                         const struct values *v, double now)
{
    const char *unit = result_capacity_unit(r->result);
    const double middle = (v->of_runs[(v->n - 1) / 2] + v->of_runs[v->n / 2]) / 2;
    char texts[5][FIGURE_TEXT_BYTES], n_runs[UNITS_TEXT_BYTES];
    const char *cells[N_METRIC_COLUMNS] = {row->name,
                                           value_text(texts[0], row, unit, now),
                                           units_format_count(n_runs, v->n),
                                           value_text(texts[1], row, unit, middle),
                                           value_text(texts[2], row, unit, v->of_runs[0]),
                                           value_text(texts[3], row, unit, v->of_runs[v->n - 1]),
                                           NULL,
                                           run_metric_is_judged(row) ? (v->holds ? "yes" : "no")
                                                                     : NULL};

    if (middle > 0) {
        snprintf(texts[4], sizeof texts[4], "%+.2f %%", figure_change(now / middle - 1, 2));
        cells[6] = texts[4];
    }
    html_table_row(r->out, metric_columns, cells, N_METRIC_COLUMNS);
}

static void print_metrics(const struct html_report *r, struct values *v)
{
    bool has_begun = false;
    double now;

    for (int i = 0; i < RUN_METRICS; i++) {
        take_values(v, r, &run_metrics[i]);
        if (v->n == 0 || !run_metric_value(r->result, &run_metrics[i], &now))
            continue;
        if (!has_begun)
            html_table_begin(r->out, "This run and the earlier ones", metric_columns,
                             N_METRIC_COLUMNS);
        has_begun = true;
        print_metric(r, &run_metrics[i], v, now);
    }
    if (has_begun)
        html_table_end(r->out);
    else
        fputs("<p class=\"soft\">No metric is known for both this run and an earlier one.</p>\n",
              r->out);
}

/* --- runs and instances: a line for each --- */

enum { N_RUN_COLUMNS = 8 };

#define RUN_COLUMNS(first, second)                                                                 \
    {                                                                                              \
        {"run", true}, {"started", true}, {first, false}, {second, false}, {"p50", false},         \
            {"p99", false}, {"max", false},                                                        \
        {                                                                                          \
            "verdict", true                                                                        \
        }                                                                                          \
    }

/* Counts of queries, and of the messages of a listener. */
static const struct html_column run_columns[][N_RUN_COLUMNS] = {RUN_COLUMNS("sent", "answered"),
                                                                RUN_COLUMNS("received", "lost")};
static const char *const run_counts[][2] = {{"queries.sent", "queries.answered"},
                                            {"push.measured", "push.lost"}};
static const char *const instance_counts[][2] = {{"sent", "answered"}, {"received", "lost"}};

/* A run, or an instance of a merged result. */
struct run_line {
    const char *name, *verdict;
    const struct json_object *of; /* has the counts, and when it started */
    const char *const *counts;    /* the paths of two */
    struct latency response;
    bool has_times;
    uint64_t timeout_ns;
};

static void print_run(FILE *out, const struct run_line *run)
{
    char texts[5][FIGURE_TEXT_BYTES];
    const char *cells[N_RUN_COLUMNS] = {run->name, result_string(run->of, "started"),
                                        figure_count(texts[0], run->of, run->counts[0]),
                                        figure_count(texts[1], run->of, run->counts[1])};

    for (int i = 0; run->has_times && i < LATENCY_N_PERCENTILES; i++)
        if (latency_percentiles[i].den == 2)
            cells[4] = figure_latency(texts[2], run->response.percentiles_ns[i], run->timeout_ns);
        else if (latency_percentiles[i].den == 100)
            cells[5] = figure_latency(texts[3], run->response.percentiles_ns[i], run->timeout_ns);
    if (run->has_times && run->response.count > 0)
        cells[6] = figure_latency(texts[4], run->response.max_ns, run->timeout_ns);
    cells[7] = run->verdict;
    html_table_row(out, run_columns[0], cells, N_RUN_COLUMNS);
}

static void print_earlier_runs(const struct html_report *r)
{
    const bool of_listener = result_is_of_listener(r->result);

    html_table_begin(r->out, "The earlier runs", run_columns[of_listener], N_RUN_COLUMNS);
    for (size_t i = 0; i < r->earlier->n; i++) {
        struct recording *earlier = &r->earlier->items[i];
        struct run_line run = {.name = earlier->name,
                               .verdict = result_verdict_name(result_verdict(earlier->result)),
                               .of = earlier->result,
                               .counts = run_counts[of_listener],
                               .timeout_ns = result_timeout_of_ns(earlier->result, "response")};

        run.has_times = recording_latency(earlier, "response", &run.response);
        print_run(r->out, &run);
    }
    html_table_end(r->out);
}

/* Notes the first earlier run that is not comparable. */
static void print_difference(const struct html_report *r)
{
    char settings[FINGERPRINT_TEXT_BYTES], host[FINGERPRINT_TEXT_BYTES];

    for (size_t i = 0; i < r->earlier->n; i++) {
        const struct recording *run = &r->earlier->items[i];
        const unsigned n = fingerprint_settings(run->result, r->result, settings) +
                           fingerprint_host(run->result, r->result, host);

        if (n == 0)
            continue;
        fputs("<p class=\"suspect\">", r->out);
        html_printf(r->out, "Not comparable: %s and this run differ: %s%s%s", run->name, settings,
                    settings[0] != '\0' && host[0] != '\0' ? ", " : "", host);
        fputs("</p>\n", r->out);
        return;
    }
}

void html_comparison(const struct html_report *r)
{
    struct values v = {0};

    if (r->earlier->n == 0)
        return;
    v.of_runs = malloc(r->earlier->n * sizeof *v.of_runs);
    if (v.of_runs == NULL)
        return;
    fputs("<section>\n<h2>Earlier runs</h2>\n", r->out);
    print_difference(r);
    print_metrics(r, &v);
    fprintf(r->out,
            "<p class=\"soft\">%sOne run shows no trend: \"tcpreport compare\" tests whether two "
            "groups of runs differ.</p>\n",
            result_is_of_listener(r->result)
                ? ""
                : "A percentile that falls among unanswered queries counts as the timeout. ");
    print_earlier_runs(r);
    fputs("</section>\n", r->out);
    free(v.of_runs);
}

void html_instances(const struct html_report *r)
{
    const bool of_listener = result_is_of_listener(r->result);
    const struct json_object *instance;

    if (result_n_instances(r->result) < 2)
        return;
    fputs("<section>\n<h2>Instances</h2>\n<p>All other figures of this page are those of all "
          "instances together.</p>\n",
          r->out);
    html_table_begin(r->out, "The instances", run_columns[of_listener], N_RUN_COLUMNS);
    for (size_t i = 0; (instance = result_element(r->result, "instances", i)) != NULL; i++) {
        struct run_line run = {.name = result_string(instance, "name"),
                               .verdict = result_string(instance, "verdict"),
                               .of = instance,
                               .counts = instance_counts[of_listener],
                               .timeout_ns = of_listener ? LATENCY_NEVER
                                                         : result_instance_timeout_ns(instance)};

        run.has_times = result_instance_response(instance, &run.response);
        print_run(r->out, &run);
    }
    html_table_end(r->out);
    fputs("</section>\n", r->out);
}
