/* SPDX-License-Identifier: MIT
 * total: see report/total.h. */
#include "report/total.h"

#include "base/json.h"
#include "base/log.h"
#include "measure/latency_report.h"
#include "measure/result_json.h"
#include "report/merge.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/same_run.h"

#include <stdbool.h>

_Static_assert(RESULT_SCHEMA == RESULT_JSON_SCHEMA, "reads what it writes");

void total_free(struct total *total)
{
    result_free(total->result);
    metrics_free(&total->metrics);
    *total = (struct total){0};
}

/* Merges intervals of the same second and metric.  Does nothing if a run has no log. */
static int add_batches(struct total *total, const struct recordings *all)
{
    struct timeline timeline;
    struct timeline_entry e;
    struct hist h;
    size_t at = 0;
    int status = recordings_timeline(all, &timeline) | hist_init(&h);

    for (size_t i = 0; i < all->n && status == 0; i++)
        if (!all->items[i].has_log)
            at = timeline.n;
    while (status == 0 && (status = timeline_next(&timeline, &at, &e, &h)) > 0) {
        struct metric *metric = metrics_get(&total->metrics, e.tag[0] != '\0' ? e.tag : "response");

        status = metric == NULL ? -1 : 0;
        if (metric != NULL)
            batch_means_add(&metric->batches, h.count, hist_mean_ns(&h));
    }
    hist_free(&h);
    timeline_free(&timeline);
    return status;
}

static bool has_values(const struct recording *r, const char *metric)
{
    const struct metric *m = metrics_find(&r->metrics, metric);

    return m != NULL && m->hist.count > 0;
}

/* The response times of the total are unknown if those of any run are.  Other times are unknown if
 * a run with answers did not measure them: not even the mean would be that of all runs. */
static void forget_unknown(struct total *total, const struct recordings *all)
{
    static const char *const of_answers[] = {"response", "service", "net"};

    for (size_t k = 0; k < sizeof of_answers / sizeof *of_answers; k++) {
        struct metric *metric;
        bool have_all = true;

        for (size_t i = 0; i < all->n; i++)
            have_all &= k == 0 ? metrics_find(&all->items[i].metrics, of_answers[k]) != NULL
                               : has_values(&all->items[i], of_answers[k]) ||
                                     !has_values(&all->items[i], "response");
        if (have_all || metrics_find(&total->metrics, of_answers[k]) == NULL)
            continue;
        metric = metrics_get(&total->metrics, of_answers[k]);
        hist_reset(&metric->hist);
        metric->batches = (struct batch_means){0};
    }
}

/* The figures of a run that is given twice would be counted twice. */
static int check_runs(const struct recordings *all)
{
    size_t a, b;
    const int found = same_run_find(all, &a, &b);

    if (found < 0)
        return log_error("out of memory");
    return found == 0 ? 0
                      : log_error("%s and %s have the same run, itself or as an instance: expected "
                                  "each run once",
                                  all->items[a].name, all->items[b].name);
}

int total_make(struct total *total, const struct recordings *all)
{
    bool every = true;

    if (check_runs(all) != 0)
        return -1;
    for (size_t i = 0; i < all->n; i++) {
        const struct recording *r = &all->items[i];

        if (metrics_merge(&total->metrics, &r->metrics) != 0)
            return log_error("cannot add up the runs: out of memory, or more than %d histograms",
                             METRICS_MOST);
        every &= r->result != NULL;
    }
    if (add_batches(total, all) != 0)
        return log_error("out of memory");
    forget_unknown(total, all);
    for (size_t i = 0; every && i < all->n; i++) {
        if (i == 0 && (total->result = merge_first(all->items[0].result)) == NULL)
            return log_error("out of memory");
        if (i > 0 && merge_add(total->result, all->items[i].result) != 0)
            return log_error("out of memory");
    }
    return 0;
}

/* --- JSON --- */

static void put_instances(struct json *j, struct recordings *all)
{
    struct latency l;

    json_array_begin(j, "instances");
    for (size_t i = 0; i < all->n; i++) {
        const struct json_object *result = all->items[i].result;

        json_object_begin(j, NULL);
        json_string(j, "name", all->items[i].name);
        json_raw(j, "seed", result_text(result, "seed"));
        json_raw(j, "target", result_text(result, "target"));
        json_raw(j, "started", result_text(result, "started"));
        json_raw(j, "connections", result_text(result, "connections.live_at_end"));
        json_raw(j, "sent", result_text(result, "queries.sent"));
        json_raw(j, "answered", result_text(result, "queries.answered"));
        json_raw(j, "received", result_text(result, "push.measured"));
        json_raw(j, "lost", result_text(result, "push.lost"));
        json_raw(j, "timeout_s", result_text(result, "options.timeout"));
        if (recording_latency(&all->items[i], "response", &l))
            latency_report_json(j, "response_ns", &l);
        json_string(j, "verdict", result_verdict_name(result_verdict(result)));
        json_raw(j, "reasons", result_text(result, "reasons"));
        json_raw(j, "explanations", result_text(result, "explanations"));
        json_object_end(j);
    }
    json_array_end(j);
}

struct putting {
    struct json *j;
    const struct json_object *result;
};

static void put_key(void *arg, const char *key)
{
    const struct putting *p = arg;

    json_raw(p->j, key, result_text(p->result, key));
}

void total_print_json(FILE *out, struct recordings *all, const struct total *total)
{
    struct json j;
    struct putting putting = {&j, total->result};
    struct latency l;

    result_json_begin(&j, out, "tcpreport", TCPSCALER_VERSION);
    result_each_key(total->result, put_key, &putting);
    json_object_begin(&j, "latency_ns");
    for (unsigned i = 0; i < total->metrics.n; i++) {
        metrics_latency(&total->metrics.items[i], &l);
        latency_report_json(&j, total->metrics.items[i].name, &l);
    }
    json_object_end(&j);
    put_instances(&j, all);
    json_object_end(&j);
}
