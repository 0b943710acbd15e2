/* SPDX-License-Identifier: MIT
 * class_reader: see report/class_reader.h. */
#include "report/class_reader.h"

#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

struct reading {
    const struct json_object *result, *classes;
    struct class_report *into;
    size_t n;
};

static uint64_t count_of(const struct json_object *class, const char *path)
{
    uint64_t count;

    return result_u64(class, path, &count) ? count : UINT64_MAX;
}

static void take(void *arg, const char *name)
{
    struct reading *r = arg;
    const struct json_object *class = result_find(r->classes, name);
    char metric[NAME_BYTES];
    struct class_report *c = &r->into[r->n];

    if (r->n == CLASS_READER_MOST || class == NULL)
        return;
    r->n++;
    *c = (struct class_report){
        .name = name,
        .clients = count_of(class, "clients"),
        .connected = count_of(class, "connections.connected"),
        .proven = count_of(class, "connections.proven"),
        .live = count_of(class, "connections.live_at_end"),
        .scheduled = count_of(class, "queries.scheduled"),
        .answered = count_of(class, "queries.answered"),
        .achieved_qps = NAN,
    };
    (void)result_double(class, "rate.achieved_qps", &c->achieved_qps);
    snprintf(metric, sizeof metric, "response:%s", name);
    if (!result_latency(r->result, metric, &c->response))
        c->response = (struct latency){0};
}

size_t class_reader_take(const struct json_object *result,
                         struct class_report classes[CLASS_READER_MOST])
{
    struct reading r = {result, result_find(result, "classes"), classes, 0};

    result_each_key(r.classes, take, &r);
    return r.n;
}

bool class_reader_is_of_class(const char *metric)
{
    return strchr(metric, ':') != NULL;
}
