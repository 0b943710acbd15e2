/* SPDX-License-Identifier: MIT
 * result_figures: see report/result_figures.h. */
#include "report/result_figures.h"

#include "base/units.h"
#include "measure/hist.h"
#include "report/result.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 64 };

#define MOST_NS 1e18 /* of any time: 30 years */

static uint64_t percentile_of(const struct json_object *metric, const char *key)
{
    const char *text = result_string(metric, key);
    uint64_t value = LATENCY_UNKNOWN;

    if (text != NULL && strcmp(text, "beyond") == 0)
        return HIST_BEYOND;
    (void)result_u64(metric, key, &value);
    return value;
}

static bool is_time(double ns)
{
    return ns >= 0 && ns < MOST_NS;
}

static bool latency_of(const struct json_object *metric, struct latency *l)
{
    *l = (struct latency){.mean_error_90_ns = NAN, .mean_error_95_ns = NAN};
    if (!result_u64(metric, "count", &l->count) || !result_u64(metric, "over", &l->over))
        return false;
    (void)result_u64(metric, "clamped", &l->clamped);
    if (l->count > 0 &&
        (!result_u64(metric, "min", &l->min_ns) || !result_u64(metric, "max", &l->max_ns) ||
         !result_double(metric, "mean", &l->mean_ns) ||
         !result_double(metric, "stddev", &l->stddev_ns) || l->min_ns > l->max_ns ||
         !is_time(l->mean_ns) || !is_time(l->stddev_ns)))
        return false;
    (void)result_double(metric, "mean_error_90", &l->mean_error_90_ns);
    (void)result_double(metric, "mean_error_95", &l->mean_error_95_ns);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        l->percentiles_ns[i] = percentile_of(metric, latency_percentiles[i].key);
    return true;
}

bool result_latency(const struct json_object *result, const char *metric, struct latency *l)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "latency_ns.%s", metric);
    return latency_of(result_find(result, path), l);
}

bool result_instance_response(const struct json_object *instance, struct latency *l)
{
    return latency_of(result_find(instance, "response_ns"), l);
}

void result_each_metric(const struct json_object *result,
                        void (*each)(void *arg, const char *name, const struct latency *l),
                        void *arg)
{
    struct latency l;

    json_object_object_foreach(result_find(result, "latency_ns"), name, metric)
    {
        if (latency_of(metric, &l))
            each(arg, name, &l);
    }
}

enum result_verdict result_verdict(const struct json_object *result)
{
    if (result_find(result, "broken_law") != NULL)
        return RESULT_INVALID;
    return strcmp(result_string(result, "verdict"), "VALID") == 0 ? RESULT_VALID : RESULT_SUSPECT;
}

const char *result_verdict_name(enum result_verdict verdict)
{
    static const char *const names[] = {"VALID", "SUSPECT", "INVALID"};

    return names[verdict];
}

bool result_was_interrupted(const struct json_object *result)
{
    return result_flag(result, "interrupted");
}

void result_span(const struct json_object *result, uint64_t *begin_ns, uint64_t *end_ns)
{
    double connect_s = 0, duration_s = 0;

    (void)result_double(result, "rate.duration_s", &duration_s);
    *begin_ns = result_time_ns(result, "measured_from");
    if (*begin_ns == 0) {
        (void)result_double(result, "connections.connect_elapsed_s", &connect_s);
        *begin_ns = result_time_ns(result, "started");
    }
    *end_ns = *begin_ns + (uint64_t)(fmin(fmax(connect_s + duration_s, 0), 1e9) * UNITS_NS_PER_S);
}

double result_sending_s(const struct json_object *result)
{
    double sent = 0, achieved_qps = 0, duration_s = 0;

    (void)result_double(result, "queries.sent", &sent);
    (void)result_double(result, "rate.achieved_qps", &achieved_qps);
    (void)result_double(result, "rate.duration_s", &duration_s);
    return sent > 0 && achieved_qps > 0 ? sent / achieved_qps : fmax(duration_s, 0);
}

const char *result_connections_requested(const struct json_object *result)
{
    return result_find(result, "on_demand") != NULL ? "on_demand.requested" : "connections.asked";
}

static uint64_t timeout_at(const struct json_object *of, const char *path)
{
    double timeout_s = 0;

    (void)result_double(of, path, &timeout_s);
    return (uint64_t)(fmin(fmax(timeout_s, 0), 1e9) * UNITS_NS_PER_S);
}

uint64_t result_timeout_ns(const struct json_object *result)
{
    return timeout_at(result, "options.timeout");
}

/* Including that of a class: "response:NAME". */
static bool is_of_queries(const char *metric)
{
    static const char *const names[] = {"response", "service", "net"};
    const size_t n_bytes = strcspn(metric, ":");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n_bytes && strncmp(metric, names[i], n_bytes) == 0)
            return true;
    return false;
}

uint64_t result_timeout_of_ns(const struct json_object *result, const char *metric)
{
    return is_of_queries(metric) && !result_is_of_listener(result) ? result_timeout_ns(result)
                                                                   : LATENCY_NEVER;
}

uint64_t result_instance_timeout_ns(const struct json_object *instance)
{
    return timeout_at(instance, "timeout_s");
}

const char *result_sweep_unit(const struct json_object *sweep)
{
    const struct json_object *point;
    const char *unit = NULL;

    for (size_t i = 0; unit == NULL && (point = result_element(sweep, "points", i)) != NULL; i++)
        unit = result_string(point, "search.unit");
    return unit;
}

const char *result_capacity_unit(const struct json_object *result)
{
    const char *unit = result_string(result, "search.unit");

    return unit != NULL ? unit : result_sweep_unit(result_find(result, "sweep"));
}

size_t result_n_instances(const struct json_object *result)
{
    size_t n = 0;

    while (result_element(result, "instances", n) != NULL)
        n++;
    return n;
}

bool result_is_of_listener(const struct json_object *result)
{
    return result_find(result, "push") != NULL;
}

bool result_has_queries(const struct json_object *result)
{
    const char *loop = result_string(result, "options.loop");
    double qps;
    uint64_t n;

    return !result_u64(result, "queries.scheduled", &n) || n > 0 ||
           result_double(result, "rate.asked_qps", &qps) ||
           (loop != NULL && strcmp(loop, "closed") == 0);
}

bool result_is_search(const struct json_object *result)
{
    return result_find(result, "search") != NULL || result_find(result, "sweep") != NULL;
}

struct flags {
    const struct json_object *of;
    bool any;
};

static void find_flag(void *arg, const char *key)
{
    struct flags *flags = arg;

    flags->any |= result_flag(flags->of, key);
}

bool result_any_holds(const struct json_object *result)
{
    struct flags flags = {.of = result_find(result, "holds")};

    result_each_key(flags.of, find_flag, &flags);
    return flags.any;
}
