/* SPDX-License-Identifier: MIT
 * client_sweep: see client/sweep.h. */
#include "client/sweep.h"

#include "client/opts_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int client_sweep_prepare(struct client_sweep *s, const struct client_opts *o)
{
    *s = (struct client_sweep){
        .settings = client_find_settings_of(o),
        .axis = o->sweep_axis,
        .n = o->sweep_axis == CLIENT_SWEEP_NONE ? 1 : o->n_sweep,
    };
    for (unsigned i = 0; i < s->n; i++) {
        struct client_sweep_point *p = &s->points[i];

        p->at = o->sweep_values[i];
        p->find = calloc(1, sizeof *p->find);
        if (p->find == NULL)
            return -1;
        p->find->settings = &s->settings;
    }
    return 0;
}

void client_sweep_free(struct client_sweep *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        if (s->points[i].find != NULL)
            client_find_free(s->points[i].find);
        free(s->points[i].find);
    }
}

static struct client_find *current(const struct client_sweep *s)
{
    return s->points[s->n_begun > 0 ? s->n_begun - 1 : 0].find;
}

int client_sweep_init(struct client_sweep *s, const struct client_config *run,
                      struct client_steer *steer, struct client_workers *workers,
                      struct client_intervals *intervals)
{
    s->config = run;
    s->steer = steer;
    s->workers = workers;
    s->intervals = intervals;
    return client_find_init(current(s), run, steer, workers, intervals);
}

void client_sweep_begin(struct client_sweep *s, uint64_t begin_ns)
{
    s->n_begun = 1;
    client_find_begin(current(s), begin_ns);
}

/* Returns -1 if the workers have not yet applied the previous change. */
static int change_axis(struct client_sweep *s, unsigned point)
{
    switch ((enum client_sweep_axis)s->axis) {
    case CLIENT_SWEEP_CONNECTIONS:
        return client_steer_connections(s->steer, (uint32_t)s->points[point].at);
    case CLIENT_SWEEP_QUERIES_PER_CONN:
        return client_steer_queries_per_conn(s->steer, (uint32_t)s->points[point].at);
    case CLIENT_SWEEP_SIZE:
        return client_steer_size(s->steer, point);
    case CLIENT_SWEEP_NONE:
        break;
    }
    return 0;
}

/* Returns whether the sweep goes on. */
static bool begin_next(struct client_sweep *s, uint64_t now_ns)
{
    struct client_find *next = s->points[s->n_begun].find;

    if (change_axis(s, s->n_begun) != 0)
        return true;
    client_find_free(current(s)); /* its answer is kept */
    s->intervals->also = NULL;
    if (client_find_init(next, s->config, s->steer, s->workers, s->intervals) != 0)
        return false;
    if (s->axis == CLIENT_SWEEP_CONNECTIONS)
        next->n_connections = s->points[s->n_begun].at;
    s->n_begun++;
    client_find_begin(next, now_ns);
    return true;
}

bool client_sweep_look(struct client_sweep *s, uint64_t now_ns)
{
    if (client_find_look(current(s), now_ns))
        return true;
    if (s->stopped || s->n_begun == s->n)
        return false;
    return begin_next(s, now_ns);
}

void client_sweep_stop(struct client_sweep *s)
{
    s->stopped = true;
    client_find_stop(current(s));
}

bool client_sweep_is_drained(const struct client_sweep *s)
{
    const struct client_find *f = current(s);

    return f->search.n == 0 || f->trials[f->search.n - 1].drained;
}

bool client_sweep_is_conclusive(const struct client_sweep *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        const enum search_status status = s->points[i].find->search.status;

        if (status != SEARCH_FOUND && status != SEARCH_AT_LEAST)
            return false;
    }
    return true;
}

static bool lacked_connections(const struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->trials[i].judgment.reason == TRIAL_CONNECTIONS)
            return true;
    return false;
}

bool client_sweep_lacked_connections(const struct client_sweep *s)
{
    for (unsigned i = 0; i < s->n_begun; i++)
        if (lacked_connections(&s->points[i].find->search))
            return true;
    return false;
}

const char *client_sweep_axis_name(const struct client_sweep *s)
{
    return client_opts_sweep_name((enum client_sweep_axis)s->axis);
}

const char *client_sweep_describe(const struct client_sweep *s, char *text)
{
    int n = 0;

    if (s->axis != CLIENT_SWEEP_NONE)
        n = snprintf(text, CLIENT_FIND_TEXT_BYTES, "%s %llu: ", client_sweep_axis_name(s),
                     (unsigned long long)s->points[s->n_begun > 0 ? s->n_begun - 1 : 0].at);
    client_find_describe(current(s), text + n, CLIENT_FIND_TEXT_BYTES - (size_t)n);
    return text;
}
