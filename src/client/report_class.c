/* SPDX-License-Identifier: MIT
 * report_class: see client/report_class.h. */
#include "client/report_class.h"

#include "client/report_json_queries.h"
#include "measure/class_report.h"
#include "measure/latency_report.h"

#include <math.h>

static double achieved_qps(const struct client_result *r, uint32_t k)
{
    return (double)tally_get(&r->class_tallies[k].queries[TALLY_MEASURED].sent) * 1e9 /
           (double)r->sent_ns;
}

void report_class_text(FILE *out, const struct report_about *about, const struct client_result *r)
{
    const struct client_config *config = about->config;
    struct class_report classes[CLIENT_CLASS_MOST];

    for (uint32_t k = 0; k < config->n_classes; k++) {
        const struct class_tally *t = &r->class_tallies[k];

        classes[k] = (struct class_report){
            .name = config->classes[k].name,
            .clients = config->classes[k].n_connections,
            .connected = tally_get(&t->connected),
            .proven = tally_get(&t->proven),
            .live = r->class_live[k],
            .scheduled = tally_get(&t->queries[TALLY_MEASURED].scheduled),
            .answered = tally_get(&t->queries[TALLY_MEASURED].answered),
            .achieved_qps = r->sent_ns > 0 ? achieved_qps(r, k) : NAN,
        };
        latency_of_hist(&classes[k].response, &r->class_times[k].response, NULL);
    }
    class_report_text(out, classes, config->n_classes, config->timeout_ns);
}

static void put_connections(struct json *j, const struct class_tally *t, uint64_t live)
{
    json_object_begin(j, "connections");
    json_u64(j, "attempted", tally_get(&t->attempted));
    json_u64(j, "connected", tally_get(&t->connected));
    json_u64(j, "secured", tally_get(&t->secured));
    json_u64(j, "proven", tally_get(&t->proven));
    json_u64(j, "live_at_end", live);
    json_object_end(j);
}

static void put_queries(struct json *j, const char *key, const struct tally_queries *q)
{
    json_object_begin(j, key);
    report_json_queries(j, q);
    json_object_end(j);
}

static void put_rate(struct json *j, const struct report_about *about,
                     const struct client_result *r, uint32_t k)
{
    json_object_begin(j, "rate");
    json_double(j, "asked_qps",
                about->has_queries && about->config->loop == CLIENT_LOOP_OPEN
                    ? about->config->classes[k].part * about->rate_qps
                    : NAN);
    json_double(j, "achieved_qps", r->sent_ns > 0 ? achieved_qps(r, k) : NAN);
    json_object_end(j);
}

void report_class_json(struct json *j, const struct report_about *about,
                       const struct client_result *r)
{
    const struct client_config *config = about->config;

    if (!json_object_begin_if(j, "classes", config->n_classes > 0))
        return;
    for (uint32_t k = 0; k < config->n_classes; k++) {
        const struct class_tally *t = &r->class_tallies[k];

        json_object_begin(j, config->classes[k].name);
        json_u64(j, "clients", config->classes[k].n_connections);
        put_connections(j, t, r->class_live[k]);
        put_queries(j, "queries", &t->queries[TALLY_MEASURED]);
        put_queries(j, "warmup", &t->queries[TALLY_WARMUP]);
        put_queries(j, "probes", &t->queries[TALLY_PROBE]);
        put_rate(j, about, r, k);
        json_object_end(j);
    }
    json_object_end(j);
}

static void put_metric(struct json *j, const char *metric, const struct client_class *class,
                       const struct hist *h)
{
    char name[CLIENT_CLASS_METRIC_BYTES];
    struct latency l;

    latency_of_hist(&l, h, NULL);
    latency_report_json(j, client_class_metric(name, metric, class), &l);
}

void report_class_json_latency(struct json *j, const struct report_about *about,
                               const struct client_result *r)
{
    for (uint32_t k = 0; k < about->config->n_classes; k++) {
        put_metric(j, "response", &about->config->classes[k], &r->class_times[k].response);
        put_metric(j, "service", &about->config->classes[k], &r->class_times[k].service);
    }
}
