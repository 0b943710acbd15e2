/* SPDX-License-Identifier: MIT
 * server_cost: see measure/server_cost.h. */
#include "measure/server_cost.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SOURCE_NAME(id, name) name,

const char *server_cost_source_name(enum server_cost_source source)
{
    static const char *const names[] = {SERVER_COST_SOURCES(SOURCE_NAME)};

    return names[source];
}

static bool is_known(const struct watch_sample *sample, enum watch_figure figure)
{
    return sample->at[figure] != WATCH_UNKNOWN;
}

/* --- memory --- */

enum { FEWEST_PSS_SAMPLES = 5, PAGE_BYTES = 4096 };

/* Returns by how much the connections grew, over those of the first n samples that have the figure.
 */
static uint64_t span_of(const struct watch_series *s, size_t n, enum watch_figure figure)
{
    uint64_t least = WATCH_UNKNOWN, most = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t connections = s->items[i].at[WATCH_CONNECTIONS];

        if (connections == WATCH_UNKNOWN || !is_known(&s->items[i], figure))
            continue;
        least = connections < least ? connections : least;
        most = connections > most ? connections : most;
    }
    return most > least ? most - least : 0;
}

/* The number of samples that belong to the ramp. */
static size_t ramp_of(const struct watch_series *s, uint64_t begin_ns)
{
    size_t n = 0;

    while (n < s->n && s->items[n].at[WATCH_EPOCH_NS] <= begin_ns)
        n++;
    return 2 * span_of(s, n, WATCH_CONNECTIONS) < span_of(s, s->n, WATCH_CONNECTIONS) ? s->n : n;
}

static struct slope slope_over(const struct watch_series *s, size_t n, enum watch_figure figure)
{
    const bool are_many = span_of(s, n, figure) >= SERVER_COST_LEAST_CONNECTIONS;
    struct slope_points points = {0};

    for (size_t i = 0; are_many && i < n; i++)
        if (is_known(&s->items[i], WATCH_CONNECTIONS) && is_known(&s->items[i], figure))
            slope_add(&points, (double)s->items[i].at[WATCH_CONNECTIONS],
                      (double)s->items[i].at[figure]);
    return slope_of(&points, PAGE_BYTES);
}

static void compute_memory(struct server_cost *c, const struct watch_series *s, size_t n)
{
    static const enum watch_figure figures[] = {[SERVER_COST_CGROUP] = WATCH_CGROUP_USER_BYTES,
                                                [SERVER_COST_PSS] = WATCH_PSS_BYTES,
                                                [SERVER_COST_RSS] = WATCH_RSS_BYTES};
    const bool prefers_rss =
        c->processes <= 1 && slope_over(s, n, WATCH_PSS_BYTES).n < FEWEST_PSS_SAMPLES;
    const enum server_cost_source order[] = {SERVER_COST_CGROUP,
                                             prefers_rss ? SERVER_COST_RSS : SERVER_COST_PSS,
                                             prefers_rss ? SERVER_COST_PSS : SERVER_COST_RSS};

    c->user_source = SERVER_COST_NONE;
    for (int i = 0; i < 3 && c->user_source == SERVER_COST_NONE; i++) {
        c->user = slope_over(s, n, figures[order[i]]);
        if (c->user.n > 0)
            c->user_source = order[i];
    }
    c->kernel = slope_over(s, n, WATCH_CGROUP_KERNEL_BYTES);
}

static void compute_buffers(struct server_cost *c, const struct watch_series *s)
{
    c->buffer_bytes = NAN;
    for (size_t i = 0; i < s->n; i++) {
        const struct watch_sample *sample = &s->items[i];

        if (is_known(sample, WATCH_BUFFER_BYTES) && is_known(sample, WATCH_ESTABLISHED) &&
            sample->at[WATCH_ESTABLISHED] > 0)
            c->buffer_bytes = fmax(c->buffer_bytes, (double)sample->at[WATCH_BUFFER_BYTES] /
                                                        (double)sample->at[WATCH_ESTABLISHED]);
    }
}

/* --- CPU --- */

static bool has_load(const struct watch_sample *sample)
{
    return is_known(sample, WATCH_QUERIES) && is_known(sample, WATCH_USER_US) &&
           is_known(sample, WATCH_SYSTEM_US);
}

static double growth_of(const struct watch_sample *first, const struct watch_sample *last,
                        enum watch_figure figure)
{
    return (double)last->at[figure] - (double)first->at[figure];
}

static void compute_cpu(struct server_cost *c, const struct watch_series *s, uint64_t begin_ns,
                        uint64_t end_ns)
{
    const struct watch_sample *first = NULL, *last = NULL;
    double queries;

    c->user_ns = c->system_ns = c->cpus = NAN;
    c->queries = WATCH_UNKNOWN;
    for (size_t i = 0; i < s->n; i++) {
        const struct watch_sample *sample = &s->items[i];
        const uint64_t at_ns = sample->at[WATCH_EPOCH_NS];

        if (at_ns < begin_ns || at_ns > end_ns || !has_load(sample))
            continue;
        first = first == NULL ? sample : first;
        last = sample;
    }
    if (first == last || (queries = growth_of(first, last, WATCH_QUERIES)) <= 0)
        return;
    c->queries = (uint64_t)queries;
    c->user_ns = growth_of(first, last, WATCH_USER_US) * 1e3 / queries;
    c->system_ns = growth_of(first, last, WATCH_SYSTEM_US) * 1e3 / queries;
    c->cpus = (c->user_ns + c->system_ns) * queries / growth_of(first, last, WATCH_EPOCH_NS);
}

/* --- all --- */

void server_cost_compute(struct server_cost *c, const struct watch_series *s, uint64_t begin_ns,
                         uint64_t end_ns)
{
    c->n_samples = s->n;
    c->rss_bytes = watch_series_most(s, WATCH_RSS_BYTES);
    c->pss_bytes = watch_series_most(s, WATCH_PSS_BYTES);
    c->cgroup_bytes = watch_series_most(s, WATCH_CGROUP_BYTES);
    c->fds = watch_series_most(s, WATCH_FDS);
    c->processes = watch_series_most(s, WATCH_PROCESSES);
    c->listen_queue = watch_series_most(s, WATCH_LISTEN_QUEUE);
    c->listen_backlog = watch_series_least(s, WATCH_LISTEN_BACKLOG);
    c->listen_overflows = watch_series_growth(s, WATCH_LISTEN_OVERFLOWS);
    c->listen_drops = watch_series_growth(s, WATCH_LISTEN_DROPS);
    compute_memory(c, s, ramp_of(s, begin_ns));
    compute_buffers(c, s);
    compute_cpu(c, s, begin_ns, end_ns);
}

void server_cost_copy_name(char to[SERVER_COST_NAME_BYTES], const char *from)
{
    size_t n = 0;

    for (; from[n] != '\0' && n + 1 < SERVER_COST_NAME_BYTES; n++)
        to[n] = from[n] >= ' ' && from[n] <= '~' ? from[n] : '?';
    to[n] = '\0';
}
