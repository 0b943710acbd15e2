/* SPDX-License-Identifier: MIT
 * cmd_compare: tcpreport compare.  Takes the VALID runs of two groups, one value per run and
 * metric, and says which metrics are worse in the second group. */
#include "base/log.h"
#include "base/units.h"
#include "report/cmd.h"
#include "report/cmd_nights.h"
#include "report/comparison.h"
#include "report/fingerprint.h"
#include "report/opts.h"
#include "report/run_group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(RUN_METRICS <= COMPARISON_METRICS, "room");

struct found {
    const struct run_metric *row;
    struct comparison comparison;
};

/* One value per run that has any, *n of them, to be freed; NULL: no memory. */
static double *values_of(const struct run_group *g, const struct run_metric *row, size_t *n)
{
    double *values = malloc(g->n_valid * sizeof *values);

    *n = 0;
    for (size_t i = 0; i < g->n_valid && values != NULL; i++)
        *n += run_metric_value(g->valid[i]->result, row, &values[*n]);
    return values;
}

/* Compares one metric.  Returns 1, 0 when not every run has it, -1 after a line. */
static int compare_metric(const struct run_group *a, const struct run_group *b,
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
        status = log_error("no memory");
    else if (n_a == a->n_valid && n_b == b->n_valid)
        status = comparison_make(c, of_a, n_a, of_b, n_b) == 0 ? c->median_a > 0
                                                               : log_error("no memory");
    else if (n_a == a->n_valid && n_b == 0)
        status = log_error("no run has a %s any more", row->name);
    free(of_a);
    free(of_b);
    return status;
}

/* Returns the number of metrics compared; 0 after a line, or when there is none. */
static size_t compare(const struct run_group *a, const struct run_group *b, struct found *found)
{
    struct comparison comparisons[RUN_METRICS];
    size_t n = 0;

    for (size_t i = 0; i < RUN_METRICS; i++) {
        const int status = compare_metric(a, b, &run_metrics[i], &comparisons[n]);

        if (status < 0)
            return 0;
        if (status > 0)
            found[n++].row = &run_metrics[i];
    }
    comparison_judge(comparisons, n);
    for (size_t i = 0; i < n; i++)
        found[i].comparison = comparisons[i];
    return n;
}

/* --- words --- */

static void print_median(const struct found *f, double median)
{
    char text[UNITS_TEXT_BYTES];

    if (f->row->percentile != NULL)
        printf("%11s", units_format_duration(text, (uint64_t)(median + 0.5)));
    else
        printf("%9.4f %%", 100 * median);
}

static void print_table(const struct found *found, size_t n)
{
    static const char *const findings[] = {"", "  WORSE", "  better"};

    printf("\n%-15s%11s%11s%10s%24s%10s%10s%12s\n", "metric", "before", "now", "change",
           "99 % interval", "p", "margin", "detectable");
    for (size_t i = 0; i < n; i++) {
        const struct comparison *c = &found[i].comparison;
        char interval[64];

        printf("%-15s", found[i].row->name);
        print_median(&found[i], c->median_a);
        print_median(&found[i], c->median_b);
        snprintf(interval, sizeof interval, "%+.2f to %+.2f %%", 100 * c->low, 100 * c->high);
        printf("%+8.2f %%%24s%10.2g%8.2f %%%10.2f %%%s\n", 100 * c->effect, interval, c->p,
               100 * c->margin, 100 * c->detectable, findings[c->finding]);
    }
}

static void print_findings(const struct found *found, size_t n, enum comparison_finding finding)
{
    const char *separator = "";

    for (size_t i = 0; i < n; i++) {
        const struct comparison *c = &found[i].comparison;

        if (c->finding != finding)
            continue;
        printf("%s%s %+.1f %% (%+.1f to %+.1f)", separator, found[i].row->name, 100 * c->effect,
               100 * c->low, 100 * c->high);
        separator = ", ";
    }
}

static size_t count_findings(const struct found *found, size_t n, enum comparison_finding finding)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += found[i].comparison.finding == finding;
    return count;
}

static int conclude(const struct run_group *a, const struct run_group *b)
{
    struct found found[RUN_METRICS];
    const size_t n = compare(a, b, found);

    if (n == 0 || !comparison_is_possible(a->n_valid, b->n_valid, n)) {
        printf("INCONCLUSIVE: %zu runs against %zu cannot show an effect in %zu metrics\n",
               b->n_valid, a->n_valid, n);
        return CMD_USAGE;
    }
    if (count_findings(found, n, COMPARISON_WORSE) > 0) {
        printf("REGRESSION: ");
        print_findings(found, n, COMPARISON_WORSE);
    } else {
        printf("PASS: no metric is worse");
        if (count_findings(found, n, COMPARISON_BETTER) > 0)
            printf("; better: ");
        print_findings(found, n, COMPARISON_BETTER);
    }
    printf("; %zu runs against %zu; detectable in %s: %.1f %%\n", b->n_valid, a->n_valid,
           found[0].row->name, 100 * found[0].comparison.detectable);
    print_table(found, n);
    return count_findings(found, n, COMPARISON_WORSE) > 0 ? CMD_WORSE : CMD_OK;
}

static int run(const struct report_opts *o, const struct run_group *a, const struct run_group *b)
{
    char text[FINGERPRINT_TEXT_BYTES];

    if (a->n_valid < o->min_runs || b->n_valid < o->min_runs) {
        printf("INCONCLUSIVE: %zu and %zu VALID runs, at least %" PRIu64 " each are needed\n",
               a->n_valid, b->n_valid, o->min_runs);
        return CMD_USAGE;
    }
    if (!o->force && (run_group_check(a->valid[0]->result, a) != 0 ||
                      run_group_check(a->valid[0]->result, b) != 0)) {
        puts("INCONCLUSIVE: the runs are not of one kind");
        return CMD_USAGE;
    }
    if (fingerprint_program(a->valid[0]->result, b->valid[0]->result, text) > 0)
        log_error("note: %s", text);
    return conclude(a, b);
}

int cmd_compare(const struct report_opts *opts)
{
    struct run_group a = {0}, b = {0};
    int code = CMD_USAGE;

    if (run_group_load(&a, opts->files, opts->n_files) == 0 &&
        run_group_load(&b, opts->others, opts->n_others) == 0)
        code = opts->nights ? cmd_nights(opts, &a, &b) : run(opts, &a, &b);
    run_group_free(&a);
    run_group_free(&b);
    return code;
}
