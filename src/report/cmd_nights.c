/* SPDX-License-Identifier: MIT
 * cmd_nights: see report/cmd_nights.h. */
#include "report/cmd_nights.h"

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "report/cmd.h"
#include "report/compare_report.h"
#include "report/figure.h"
#include "report/fingerprint.h"
#include "report/hodges_lehmann.h"
#include "report/nights.h"
#include "report/opts.h"
#include "report/run_group.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A metric that was judged. */
struct judged {
    const struct run_metric *row;
    size_t n_before; /* nights that have it */
    struct nights_metric m;
};

struct outcome {
    struct compare_report report;
    size_t n_nights; /* before tonight */
    struct judged judged[RUN_METRICS];
    size_t n_judged;
};

/* --- values of nights --- */

static size_t count_nights(const struct run_group *g, uint64_t min_runs)
{
    size_t n_nights = 0;

    for (size_t at = 0, n; at < g->n_valid; at += n) {
        n = run_group_n_in_directory(g, at);
        n_nights += n >= min_runs;
    }
    return n_nights;
}

/* Returns the median of n runs; NAN: a run has no value that holds, or out of memory. */
static double night_value(const struct run_group *g, size_t at, size_t n,
                          const struct run_metric *row)
{
    double *values = malloc(n * sizeof *values), value = NAN;
    size_t n_values = 0;

    for (size_t i = 0; i < n && values != NULL; i++) {
        const struct json_object *result = g->valid[at + i]->result;

        n_values +=
            run_metric_holds(result, row) && run_metric_value(result, row, &values[n_values]);
    }
    if (values != NULL && n_values == n)
        value = hodges_lehmann_median(values, n);
    free(values);
    return value;
}

/* One value per night that has one, oldest first.  values: room for every run. */
static size_t night_values(const struct run_group *g, uint64_t min_runs,
                           const struct run_metric *row, double *values)
{
    size_t n_values = 0;

    for (size_t at = 0, n; at < g->n_valid; at += n) {
        double value;

        n = run_group_n_in_directory(g, at);
        value = n < min_runs ? NAN : night_value(g, at, n, row);
        if (value > 0)
            values[n_values++] = value;
    }
    return n_values;
}

/* --- verdict --- */

/* Whether every earlier run has a value, and no run of tonight has one, although it would hold. */
static bool is_missing(const struct run_group *before, const struct run_group *tonight,
                       const struct run_metric *row)
{
    bool is_missing = true;
    double value;

    for (size_t i = 0; i < before->n_valid; i++)
        is_missing &= run_metric_value(before->valid[i]->result, row, &value);
    for (size_t i = 0; i < tonight->n_valid; i++)
        is_missing &= run_metric_holds(tonight->valid[i]->result, row) &&
                      !run_metric_value(tonight->valid[i]->result, row, &value);
    return is_missing;
}

/* Returns the name of the first metric that is missing; NULL: none is. */
static const char *find_missing(const struct run_group *before, const struct run_group *tonight)
{
    for (int i = 0; i < RUN_METRICS; i++)
        if (is_missing(before, tonight, &run_metrics[i]))
            return run_metrics[i].name;
    return NULL;
}

/* Judges the metrics that tonight and enough earlier nights have.  Returns 0, or -1 after one line
 * on stderr. */
static int judge_metrics(struct outcome *o, const struct run_group *before,
                         const struct run_group *tonight, uint64_t min_runs)
{
    double *values = malloc(before->n_valid * sizeof *values), now[RUN_METRICS];

    if (values == NULL)
        return log_error("out of memory");
    for (int i = 0; i < RUN_METRICS; i++) {
        const struct run_metric *row = &run_metrics[i];

        now[i] = night_value(tonight, 0, tonight->n_valid, row);
        o->report.is_judged[i] =
            !isnan(now[i]) && night_values(before, min_runs, row, values) >= NIGHTS_LEAST;
        if (o->report.is_judged[i])
            o->judged[o->n_judged++].row = row;
    }
    for (size_t i = 0; i < o->n_judged; i++) {
        struct judged *j = &o->judged[i];

        j->n_before = night_values(before, min_runs, j->row, values);
        j->m = (struct nights_metric){.less_is_worse = j->row->percentile == NULL,
                                      .least_share = j->row->least_share};
        nights_judge(&j->m, values, j->n_before, now[j->row - run_metrics], o->n_judged);
        if (j->m.finding == COMPARISON_WORSE)
            o->report.code = CMD_WORSE;
    }
    free(values);
    return 0;
}

/* Notes the first earlier run of another program. */
static void note_program(const struct run_group *before, const struct json_object *now)
{
    char text[FINGERPRINT_TEXT_BYTES];

    for (size_t i = 0; i < before->n_valid; i++)
        if (fingerprint_program(before->valid[i]->result, now, text) > 0) {
            log_error("note: %s", text);
            return;
        }
}

static void judge(struct outcome *o, const struct report_opts *opts, const struct run_group *before,
                  const struct run_group *tonight)
{
    const char *missing;

    o->report.code = CMD_USAGE;
    o->n_nights = count_nights(before, opts->min_runs);
    o->report.of_searches = run_group_is_of_searches(tonight);
    if (tonight->n_valid < opts->min_runs ||
        run_group_n_in_directory(tonight, 0) != tonight->n_valid) {
        snprintf(o->report.reason, sizeof o->report.reason,
                 "%zu VALID %s tonight (required: %" PRIu64 " in one directory)", tonight->n_valid,
                 units_noun(tonight->n_valid, "run", "runs"), opts->min_runs);
        return;
    }
    /* first: nightly.sh compares later nights with one that only lacks earlier nights */
    if (!compare_report_check(&o->report, opts, tonight->valid[0], before, tonight))
        return;
    if (o->n_nights < NIGHTS_LEAST) {
        snprintf(o->report.reason, sizeof o->report.reason, "%zu of %d reference nights",
                 o->n_nights, NIGHTS_LEAST);
        return;
    }
    note_program(before, tonight->valid[0]->result);
    missing = find_missing(before, tonight);
    if (missing != NULL) {
        snprintf(o->report.reason, sizeof o->report.reason,
                 "%s is missing from every run of tonight", missing);
        return;
    }
    o->report.code = CMD_OK;
    if (judge_metrics(o, before, tonight, opts->min_runs) != 0 || o->n_judged == 0) {
        o->report.code = CMD_USAGE;
        snprintf(o->report.reason, sizeof o->report.reason,
                 "no metric has a value in enough nights");
    }
}

/* --- output --- */

static void print_found(const struct outcome *o, enum comparison_finding finding,
                        const char *introduction)
{
    const char *separator = introduction;

    for (size_t i = 0; i < o->n_judged; i++) {
        const struct judged *j = &o->judged[i];

        if (j->m.finding != finding)
            continue;
        printf("%s%s %+.1f %%%s", separator, j->row->name,
               figure_change(j->m.is_by_drift ? j->m.drift.share : j->m.step.share, 1),
               j->m.is_by_drift ? " (drift)" : "");
        separator = ", ";
    }
}

/* In 20 columns, more if necessary. */
static void print_change(const struct nights_change *change, bool is_known)
{
    if (is_known)
        printf(" %+7.2f %%%10.2g", figure_change(change->share, 2), change->p);
    else
        printf("%10s%10s", "-", "-");
}

static void print_table(const struct outcome *o)
{
    printf("\n%-15s%11s%11s%10s%10s%10s%10s%12s%10s%12s\n", "metric", "before", "tonight", "step",
           "p", "drift", "p", "per night", "noise", "detectable");
    for (size_t i = 0; i < o->n_judged; i++) {
        const struct nights_metric *m = &o->judged[i].m;

        printf("%-15s", o->judged[i].row->name);
        compare_report_value(o->judged[i].row, m->before);
        compare_report_value(o->judged[i].row, m->tonight);
        print_change(&m->step, true);
        print_change(&m->drift, m->has_drift);
        printf(" %+9.3f %% %7.2f %% %9.2f %%%s\n", figure_change(m->trend, 3), 100 * m->noise,
               100 * m->detectable,
               m->finding == COMPARISON_WORSE    ? "  WORSE"
               : m->finding == COMPARISON_BETTER ? "  better"
                                                 : "");
    }
}

static void print_verdict(const struct outcome *o)
{
    if (!compare_report_verdict(&o->report))
        return;
    if (o->report.code == CMD_WORSE) {
        print_found(o, COMPARISON_WORSE, "");
    } else {
        printf("no metric got worse");
        print_found(o, COMPARISON_BETTER, "; better: ");
    }
    compare_report_not_judged(&o->report);
    printf("; against %zu nights; detectable in %s: %.1f %%\n", o->n_nights, o->judged[0].row->name,
           100 * o->judged[0].m.detectable);
    print_table(o);
}

static void put_change(struct json *j, const char *key, struct nights_change change, bool is_known)
{
    if (!json_object_begin_if(j, key, is_known))
        return;
    json_double(j, "share", change.share);
    json_double(j, "p", change.p);
    json_object_end(j);
}

static void put_metric(struct json *j, const struct judged *judged)
{
    const struct nights_metric *m = &judged->m;

    json_object_begin(j, NULL);
    json_string(j, "metric", judged->row->name);
    json_string(j, "finding", compare_report_finding(m->finding));
    json_u64(j, "nights", judged->n_before);
    json_double(j, "before", m->before);
    json_double(j, "tonight", m->tonight);
    put_change(j, "step", m->step, true);
    put_change(j, "drift", m->drift, m->has_drift);
    json_double(j, "trend_per_night", m->trend);
    json_double(j, "noise", m->noise);
    json_double(j, "detectable", m->detectable);
    json_object_end(j);
}

static void put_metrics(struct json *j, const void *arg)
{
    const struct outcome *o = arg;

    json_u64(j, "nights", o->n_nights);
    json_array_begin(j, "metrics");
    for (size_t i = 0; i < o->n_judged; i++)
        put_metric(j, &o->judged[i]);
    json_array_end(j);
}

int cmd_nights(const struct report_opts *opts, struct run_group *before,
               const struct run_group *tonight)
{
    struct outcome o = {0};

    run_group_by_directory(before);
    judge(&o, opts, before, tonight);
    if (!compare_report_json_is_stdout(opts->json))
        print_verdict(&o);
    return compare_report_json(&o.report, opts->json, put_metrics, &o);
}
