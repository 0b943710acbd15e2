/* SPDX-License-Identifier: MIT
 * cmd_compare: tcpreport compare.  Takes the VALID runs of two groups, one value per run and
 * metric, and says which metrics are worse in the second group. */
#include "base/log.h"
#include "report/answer_note_reader.h"
#include "report/cmd.h"
#include "report/cmd_nights.h"
#include "report/compare_report.h"
#include "report/comparison.h"
#include "report/figure.h"
#include "report/fingerprint.h"
#include "report/opts.h"
#include "report/run_group.h"

#include "base/units.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(RUN_METRICS <= COMPARISON_METRICS, "room");

struct found {
    const struct run_metric *row;
    struct comparison comparison;
};

struct outcome {
    struct compare_report report;
    size_t n_before, n_now; /* runs */
    struct found found[RUN_METRICS];
    size_t n_found;
};

/* Returns one value per run that has one, *n of them, to be freed; NULL: out of memory. */
static double *values_of(const struct run_group *g, const struct run_metric *row, size_t *n)
{
    double *values = malloc(g->n_valid * sizeof *values);

    *n = 0;
    for (size_t i = 0; i < g->n_valid && values != NULL; i++)
        *n += run_metric_value(g->valid[i]->result, row, &values[*n]);
    return values;
}

static bool holds_in_all(const struct run_group *g, const struct run_metric *row)
{
    bool holds = true;

    for (size_t i = 0; i < g->n_valid; i++)
        holds &= run_metric_holds(g->valid[i]->result, row);
    return holds;
}

/* Compares one metric.  Returns 1; 0 if not every run has it; or -1 with a reason. */
static int compare_metric(struct outcome *o, const struct run_group *a, const struct run_group *b,
                          const struct run_metric *row, struct comparison *c)
{
    size_t n_a, n_b;
    double *of_a = values_of(a, row, &n_a), *of_b = values_of(b, row, &n_b);
    int status = 0;

    *c = (struct comparison){
        .less_is_worse = row->percentile == NULL,
        .least_share = row->least_share,
    };
    if (of_a == NULL || of_b == NULL)
        status = -1;
    else if (n_a == a->n_valid && n_b == b->n_valid)
        status = comparison_make(c, of_a, n_a, of_b, n_b) == 0 ? c->median_a > 0 : -1;
    if (status < 0)
        snprintf(o->report.reason, sizeof o->report.reason, "out of memory");
    if (status == 0 && n_a == a->n_valid && n_b == 0) {
        snprintf(o->report.reason, sizeof o->report.reason,
                 "%s is missing from every run on the second side", row->name);
        status = -1;
    }
    free(of_a);
    free(of_b);
    return status;
}

/* Compares the metrics that hold in every run.  Returns 0, or -1 with a reason. */
static int compare(struct outcome *o, const struct run_group *a, const struct run_group *b)
{
    struct comparison comparisons[RUN_METRICS];
    size_t n = 0;

    for (int i = 0; i < RUN_METRICS; i++) {
        const struct run_metric *row = &run_metrics[i];
        const bool holds = holds_in_all(a, row) && holds_in_all(b, row);
        const int status = holds ? compare_metric(o, a, b, row, &comparisons[n]) : 0;

        if (status < 0)
            return -1;
        if (status > 0)
            o->found[n++].row = row;
    }
    comparison_judge(comparisons, n);
    for (size_t i = 0; i < n; i++) {
        o->found[i].comparison = comparisons[i];
        o->report.is_judged[o->found[i].row - run_metrics] = true;
    }
    o->n_found = n;
    return 0;
}

static size_t count_findings(const struct outcome *o, enum comparison_finding finding)
{
    size_t count = 0;

    for (size_t i = 0; i < o->n_found; i++)
        count += o->found[i].comparison.finding == finding;
    return count;
}

/* Of the second group: the first got the same kinds of answers, without --any-answers. */
static void note_answers(const struct recording *r)
{
    char text[ANSWER_NOTE_BYTES];

    if (answer_note_read(text, r->result, ANSWER_NOTE_ERRORS) != NULL)
        log_error("note: %s: %s", r->name, text);
}

static void judge(struct outcome *o, const struct report_opts *opts, const struct run_group *a,
                  const struct run_group *b)
{
    char text[FINGERPRINT_TEXT_BYTES];

    o->report.code = CMD_USAGE;
    o->n_before = a->n_valid;
    o->n_now = b->n_valid;
    o->report.of_searches = run_group_is_of_searches(a) || run_group_is_of_searches(b);
    if (a->n_valid < opts->min_runs || b->n_valid < opts->min_runs) {
        snprintf(o->report.reason, sizeof o->report.reason,
                 "%zu and %zu VALID runs (required: %" PRIu64 " each)", a->n_valid, b->n_valid,
                 opts->min_runs);
        return;
    }
    if (!compare_report_check(&o->report, opts, a->valid[0], a, b))
        return;
    if (fingerprint_program(a->valid[0]->result, b->valid[0]->result, text) > 0)
        log_error("note: %s", text);
    note_answers(b->valid[0]);
    if (compare(o, a, b) != 0)
        return;
    if (o->n_found == 0)
        snprintf(o->report.reason, sizeof o->report.reason,
                 "no metric has a value that holds in every run");
    else if (!comparison_is_possible(a->n_valid, b->n_valid, o->n_found))
        snprintf(o->report.reason, sizeof o->report.reason,
                 "%zu and %zu runs are too few to show a change in %zu %s", a->n_valid, b->n_valid,
                 o->n_found, units_noun(o->n_found, "metric", "metrics"));
    else
        o->report.code = count_findings(o, COMPARISON_WORSE) > 0 ? CMD_WORSE : CMD_OK;
}

/* --- output --- */

static void print_table(const struct outcome *o)
{
    static const char *const findings[] = {"", "  WORSE", "  better"};

    printf("\n%-15s%11s%11s%10s%24s%10s%10s%12s\n", "metric", "before", "now", "change",
           "99 % interval", "p", "margin", "detectable");
    for (size_t i = 0; i < o->n_found; i++) {
        const struct comparison *c = &o->found[i].comparison;
        char interval[64];

        printf("%-15s", o->found[i].row->name);
        compare_report_value(o->found[i].row, c->median_a);
        compare_report_value(o->found[i].row, c->median_b);
        snprintf(interval, sizeof interval, "%+.2f to %+.2f %%", figure_change(c->low, 2),
                 figure_change(c->high, 2));
        printf(" %+7.2f %% %23s%10.2g %7.2f %% %9.2f %%%s\n", figure_change(c->effect, 2), interval,
               c->p, 100 * c->margin, 100 * c->detectable, findings[c->finding]);
    }
}

static void print_findings(const struct outcome *o, enum comparison_finding finding,
                           const char *introduction)
{
    const char *separator = introduction;

    for (size_t i = 0; i < o->n_found; i++) {
        const struct comparison *c = &o->found[i].comparison;

        if (c->finding != finding)
            continue;
        printf("%s%s %+.1f %% (%+.1f to %+.1f)", separator, o->found[i].row->name,
               figure_change(c->effect, 1), figure_change(c->low, 1), figure_change(c->high, 1));
        separator = ", ";
    }
}

static void print_verdict(const struct outcome *o)
{
    if (!compare_report_verdict(&o->report))
        return;
    if (o->report.code == CMD_WORSE) {
        print_findings(o, COMPARISON_WORSE, "");
    } else {
        printf("no metric got worse");
        print_findings(o, COMPARISON_BETTER, "; better: ");
    }
    compare_report_not_judged(&o->report);
    printf("; %zu runs against %zu; detectable in %s: %.1f %%\n", o->n_now, o->n_before,
           o->found[0].row->name, 100 * o->found[0].comparison.detectable);
    print_table(o);
}

static void put_metric(struct json *j, const struct found *found)
{
    const struct comparison *c = &found->comparison;

    json_object_begin(j, NULL);
    json_string(j, "metric", found->row->name);
    json_string(j, "finding", compare_report_finding(c->finding));
    json_double(j, "before", c->median_a);
    json_double(j, "now", c->median_b);
    json_double(j, "change", c->effect);
    json_double(j, "low", c->low);
    json_double(j, "high", c->high);
    json_double(j, "p", c->p);
    json_double(j, "margin", c->margin);
    json_double(j, "detectable", c->detectable);
    json_object_end(j);
}

static void put_metrics(struct json *j, const void *arg)
{
    const struct outcome *o = arg;

    json_u64(j, "runs_before", o->n_before);
    json_u64(j, "runs_now", o->n_now);
    json_array_begin(j, "metrics");
    for (size_t i = 0; i < o->n_found; i++)
        put_metric(j, &o->found[i]);
    json_array_end(j);
}

static int compare_runs(const struct report_opts *opts, const struct run_group *a,
                        const struct run_group *b)
{
    struct outcome o = {0};

    judge(&o, opts, a, b);
    if (!compare_report_json_is_stdout(opts->json))
        print_verdict(&o);
    return compare_report_json(&o.report, opts->json, put_metrics, &o);
}

/* Two servers beyond the end of the range look the same. */
static void note_ends_of_range(const struct run_group *a, const struct run_group *b)
{
    const size_t n = run_group_n_at_least(a) + run_group_n_at_least(b);

    if (n > 0)
        log_error("note: %zu of %zu runs found no limit within --find-range: changes beyond it go "
                  "unnoticed",
                  n, a->n_valid + b->n_valid);
}

/* A night of long ago that is damaged must not spoil every night from then on. */
static int load_earlier(struct run_group *g, const struct report_opts *opts)
{
    return opts->nights ? run_group_load_good(g, opts->files, opts->n_files)
                        : run_group_load(g, opts->files, opts->n_files);
}

int cmd_compare(const struct report_opts *opts)
{
    struct run_group a = {0}, b = {0};
    int code = CMD_USAGE;

    if (load_earlier(&a, opts) == 0 && run_group_load(&b, opts->others, opts->n_others) == 0) {
        note_ends_of_range(&a, &b);
        code = opts->nights ? cmd_nights(opts, &a, &b) : compare_runs(opts, &a, &b);
    }
    run_group_free(&a);
    run_group_free(&b);
    return code;
}
