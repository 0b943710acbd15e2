/* SPDX-License-Identifier: MIT
 * cmd_compare: tcpreport compare.  Takes the VALID runs of two groups, one value per run and
 * metric, and says which metrics are worse in the second group. */
#include "cmd.h"
#include "comparison.h"
#include "complain.h"
#include "fingerprint.h"
#include "recording.h"
#include "report_opts.h"
#include "result.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Effects that are smaller do not matter. */
#define LEAST_LATENCY_SHARE  0.03
#define LEAST_ANSWERED_SHARE 0.001

/* What is compared. */
static const struct metric_row {
    const char *name, *metric;
    const char *percentile; /* NULL: queries answered of those scheduled */
} rows[] = {
    {"response p50", "response", "p50"},
    {"response p90", "response", "p90"},
    {"response p99", "response", "p99"},
    {"response p99.9", "response", "p999"},
    {"service p50", "service", "p50"},
    {"connect p50", "connect", "p50"},
    {"answered", NULL, NULL},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

_Static_assert(N_ROWS <= COMPARISON_METRICS, "room");

/* The VALID runs of one side. */
struct group {
    struct recordings all;
    const struct json_object **valid;
    size_t n_valid;
};

struct found {
    const struct metric_row *row;
    struct comparison comparison;
};

/* --- runs --- */

/* Why a run has no part; NULL: it has. */
static const char *disqualifies(const struct json_object *result)
{
    if (result_was_interrupted(result))
        return "interrupted";
    return result_verdict(result) == RESULT_VALID ? NULL
                                                  : result_verdict_name(result_verdict(result));
}

static int load(struct group *g, char **files, int n_files)
{
    if (recordings_load(&g->all, files, (size_t)n_files) != 0)
        return -1;
    g->valid = calloc(g->all.n, sizeof *g->valid);
    if (g->valid == NULL)
        return complain("no memory");
    for (size_t i = 0; i < g->all.n; i++) {
        const struct recording *r = &g->all.items[i];
        const char *why;

        if (r->result == NULL)
            return complain("%s: has no result: compare needs the --json file of each run",
                            r->name);
        why = disqualifies(r->result);
        if (why == NULL)
            g->valid[g->n_valid++] = r->result;
        else
            complain("left out: %s is %s", r->name, why);
    }
    return 0;
}

static void group_free(struct group *g)
{
    recordings_free(&g->all);
    free(g->valid);
}

/* Compares every run with the first one.  Returns 0, or -1 after a line about the first that
 * differs in what must not. */
static int check_settings(const struct json_object *first, const struct group *g)
{
    char text[FINGERPRINT_TEXT_BYTES];

    for (size_t i = 0; i < g->n_valid; i++)
        if (fingerprint_settings(first, g->valid[i], text) > 0 ||
            fingerprint_host(first, g->valid[i], text) > 0)
            return complain("the runs are not of one kind: %s (--force compares them)", text);
    return 0;
}

/* --- values --- */

static bool percentile_value(const struct json_object *result, const struct metric_row *row,
                             double *value)
{
    struct latency l;

    if (!result_latency(result, row->metric, &l))
        return false;
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++) {
        const uint64_t ns = l.percentiles_ns[i];

        if (strcmp(latency_percentiles[i].key, row->percentile) != 0)
            continue;
        if (ns == LATENCY_UNKNOWN)
            return false;
        *value = (double)(ns == HIST_BEYOND ? result_timeout_ns(result) : ns);
        return true;
    }
    return false;
}

static bool value_of(const struct json_object *result, const struct metric_row *row, double *value)
{
    uint64_t scheduled = 0, answered = 0;

    if (row->percentile != NULL)
        return percentile_value(result, row, value);
    (void)result_u64(result, "queries.scheduled", &scheduled);
    (void)result_u64(result, "queries.answered", &answered);
    *value = (double)answered / (double)scheduled;
    return scheduled > 0;
}

/* One value per run that has any, *n of them, to be freed; NULL: no memory. */
static double *values_of(const struct group *g, const struct metric_row *row, size_t *n)
{
    double *values = malloc(g->n_valid * sizeof *values);

    *n = 0;
    for (size_t i = 0; i < g->n_valid && values != NULL; i++)
        *n += value_of(g->valid[i], row, &values[*n]);
    return values;
}

/* Compares one metric.  Returns 1, 0 when not every run has it, -1 after a line. */
static int compare_metric(const struct group *a, const struct group *b,
                          const struct metric_row *row, struct comparison *c)
{
    size_t n_a, n_b;
    double *of_a = values_of(a, row, &n_a), *of_b = values_of(b, row, &n_b);
    int status = 0;

    *c = (struct comparison){
        .less_is_worse = row->percentile == NULL,
        .least_share = row->percentile == NULL ? LEAST_ANSWERED_SHARE : LEAST_LATENCY_SHARE,
    };
    if (of_a == NULL || of_b == NULL)
        status = complain("no memory");
    else if (n_a == a->n_valid && n_b == b->n_valid)
        status =
            comparison_make(c, of_a, n_a, of_b, n_b) == 0 ? c->median_a > 0 : complain("no memory");
    else if (n_a == a->n_valid && n_b == 0)
        status = complain("no run has a %s any more", row->name);
    free(of_a);
    free(of_b);
    return status;
}

/* Returns the number of metrics compared; 0 after a line, or when there is none. */
static size_t compare(const struct group *a, const struct group *b, struct found *found)
{
    struct comparison comparisons[N_ROWS];
    size_t n = 0;

    for (size_t i = 0; i < N_ROWS; i++) {
        const int status = compare_metric(a, b, &rows[i], &comparisons[n]);

        if (status < 0)
            return 0;
        if (status > 0)
            found[n++].row = &rows[i];
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

static int conclude(const struct group *a, const struct group *b)
{
    struct found found[N_ROWS];
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

static int run(const struct report_opts *o, const struct group *a, const struct group *b)
{
    char text[FINGERPRINT_TEXT_BYTES];

    if (a->n_valid < o->min_runs || b->n_valid < o->min_runs) {
        printf("INCONCLUSIVE: %zu and %zu VALID runs, at least %" PRIu64 " each are needed\n",
               a->n_valid, b->n_valid, o->min_runs);
        return CMD_USAGE;
    }
    if (!o->force && (check_settings(a->valid[0], a) != 0 || check_settings(a->valid[0], b) != 0)) {
        puts("INCONCLUSIVE: the runs are not of one kind");
        return CMD_USAGE;
    }
    if (fingerprint_program(a->valid[0], b->valid[0], text) > 0)
        complain("note: %s", text);
    return conclude(a, b);
}

int cmd_compare(const struct report_opts *opts)
{
    struct group a = {0}, b = {0};
    int code = CMD_USAGE;

    if (load(&a, opts->files, opts->n_files) == 0 && load(&b, opts->others, opts->n_others) == 0)
        code = run(opts, &a, &b);
    group_free(&a);
    group_free(&b);
    return code;
}
