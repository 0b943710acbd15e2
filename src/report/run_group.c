/* SPDX-License-Identifier: MIT
 * run_group: see report/run_group.h. */
#include "report/run_group.h"

#include "base/log.h"
#include "report/fingerprint.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_SHARE  0.03
#define ANSWERED_SHARE 0.001
#define CAPACITY_SHARE 0.02 /* as far apart as the bounds of a search are */

#define MOST_VALUE 1e18 /* another program may have written the file */

const struct run_metric run_metrics[RUN_METRICS] = {
    {"response p50", "response", "p50", LATENCY_SHARE, false},
    {"response p90", "response", "p90", LATENCY_SHARE, false},
    {"response p99", "response", "p99", LATENCY_SHARE, false},
    {"response p99.9", "response", "p999", LATENCY_SHARE, false},
    {"service p50", "service", "p50", LATENCY_SHARE, false},
    {"connect p50", "connect", "p50", LATENCY_SHARE, false},
    {"answered", NULL, NULL, ANSWERED_SHARE, false},
    {"capacity", NULL, NULL, CAPACITY_SHARE, true},
};

/* Why a run is ignored; NULL: it is not. */
static const char *why_ignored(const struct json_object *result)
{
    if (result == NULL)
        return "without a result";
    if (result_was_interrupted(result))
        return "interrupted";
    return result_verdict(result) == RESULT_VALID ? NULL
                                                  : result_verdict_name(result_verdict(result));
}

/* Returns 0, or -1 after one line on stderr. */
static int find_valid(struct run_group *g)
{
    g->valid = calloc(g->all.n + 1, sizeof *g->valid);
    if (g->valid == NULL)
        return log_error("out of memory");
    for (size_t i = 0; i < g->all.n; i++) {
        const struct recording *r = &g->all.items[i];
        const char *why = why_ignored(r->result);

        if (why == NULL)
            g->valid[g->n_valid++] = r;
        else
            log_error("ignored: %s is %s", r->name, why);
    }
    return 0;
}

int run_group_load(struct run_group *g, char **files, int n_files)
{
    if (recordings_load_results(&g->all, files, (size_t)n_files) != 0)
        return -1;
    return recordings_need_results(&g->all, "") == 0 ? find_valid(g) : -1;
}

int run_group_load_good(struct run_group *g, char **files, int n_files)
{
    return recordings_load_good_results(&g->all, files, (size_t)n_files) == 0 ? find_valid(g) : -1;
}

void run_group_free(struct run_group *g)
{
    recordings_free(&g->all);
    free(g->valid);
}

static bool is_in_directory_of(const struct recording *a, const struct recording *b)
{
    return strcmp(a->directory, b->directory) == 0;
}

void run_group_by_directory(struct run_group *g)
{
    for (size_t i = 1; i < g->n_valid; i++) {
        const struct recording *r = g->valid[i];
        size_t at = i;

        while (at > 0 && !is_in_directory_of(g->valid[at - 1], r))
            at--;
        if (at == 0) /* the first of its directory */
            continue;
        memmove(&g->valid[at + 1], &g->valid[at], (i - at) * sizeof *g->valid);
        g->valid[at] = r;
    }
}

size_t run_group_n_in_directory(const struct run_group *g, size_t at)
{
    size_t n = 1;

    while (at + n < g->n_valid && is_in_directory_of(g->valid[at], g->valid[at + n]))
        n++;
    return n;
}

int run_group_check(const struct recording *first, const struct run_group *g)
{
    char text[FINGERPRINT_TEXT_BYTES];

    for (size_t i = 0; i < g->n_valid; i++)
        if (fingerprint_settings(first->result, g->valid[i]->result, text) > 0 ||
            fingerprint_host(first->result, g->valid[i]->result, text) > 0)
            return log_error("%s and %s are not comparable: %s (--force compares them)",
                             first->name, g->valid[i]->name, text);
    return 0;
}

static bool percentile_value(const struct json_object *result, const struct run_metric *row,
                             double *value)
{
    const uint64_t timeout_ns = result_timeout_of_ns(result, row->metric);
    struct latency l;

    if (!result_latency(result, row->metric, &l))
        return false;
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++) {
        const uint64_t ns = l.percentiles_ns[i];

        if (strcmp(latency_percentiles[i].key, row->percentile) != 0)
            continue;
        if (ns == LATENCY_UNKNOWN ||
            (ns == HIST_BEYOND && (timeout_ns == 0 || timeout_ns == LATENCY_NEVER)))
            return false;
        *value = (double)(ns == HIST_BEYOND ? timeout_ns : ns);
        return true;
    }
    return false;
}

static bool is_at_least(const struct json_object *search)
{
    const char *status = result_string(search, "status");

    return status != NULL && strcmp(status, "at-least") == 0;
}

size_t run_group_n_at_least(const struct run_group *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_valid; i++) {
        const struct json_object *result = g->valid[i]->result, *point;
        bool is = is_at_least(result_find(result, "search"));

        for (size_t k = 0; (point = result_element(result, "sweep.points", k)) != NULL; k++)
            is |= is_at_least(result_find(point, "search"));
        n += is;
    }
    return n;
}

bool run_group_is_of_searches(const struct run_group *g)
{
    return g->n_valid > 0 && result_is_search(g->valid[0]->result);
}

bool run_group_has_unit(const struct recording *first, const struct run_group *g)
{
    const char *unit = result_capacity_unit(first->result);

    for (size_t i = 0; i < g->n_valid; i++) {
        const char *its_unit = result_capacity_unit(g->valid[i]->result);

        if (unit != NULL && its_unit != NULL && strcmp(its_unit, unit) != 0)
            return false;
    }
    return true;
}

/* Of a sweep, the geometric mean over all its searches. */
static bool capacity_value(const struct json_object *result, double *value)
{
    const struct json_object *point;
    double capacity, sum = 0;
    size_t n = 0;

    if (result_find(result, "sweep") == NULL)
        return result_double(result, "search.capacity", value);
    for (; (point = result_element(result, "sweep.points", n)) != NULL; n++) {
        if (!result_double(point, "search.capacity", &capacity) || !(capacity > 0))
            return false;
        sum += log(capacity);
    }
    *value = exp(sum / (double)n);
    return n > 0;
}

static bool answered_value(const struct json_object *result, double *value)
{
    uint64_t scheduled = 0, answered = 0;

    (void)result_u64(result, "queries.scheduled", &scheduled);
    (void)result_u64(result, "queries.answered", &answered);
    *value = (double)answered / (double)scheduled;
    return scheduled > 0;
}

bool run_metric_value(const struct json_object *result, const struct run_metric *row, double *value)
{
    bool known;

    if (row->of_search != result_is_search(result))
        return false;
    known = row->of_search            ? capacity_value(result, value)
            : row->percentile != NULL ? percentile_value(result, row, value)
                                      : answered_value(result, value);
    return known && *value >= 0 && *value < MOST_VALUE;
}

bool run_metric_is_judged(const struct run_metric *row)
{
    return row->metric != NULL && strcmp(row->metric, "response") == 0;
}

bool run_metric_holds(const struct json_object *result, const struct run_metric *row)
{
    char path[32];

    if (!run_metric_is_judged(row))
        return true;
    snprintf(path, sizeof path, "holds.%s", row->percentile);
    return result_find(result, path) == NULL || result_flag(result, path);
}
