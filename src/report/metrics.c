/* SPDX-License-Identifier: MIT
 * metrics: see report/metrics.h. */
#include "report/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void metrics_free(struct metrics *m)
{
    for (unsigned i = 0; i < m->n; i++)
        hist_free(&m->items[i].hist);
    free(m->items);
    *m = (struct metrics){0};
}

/* m->n: none. */
static unsigned position_of(const struct metrics *m, const char *name)
{
    unsigned i = 0;

    while (i < m->n && strcmp(m->items[i].name, name) != 0)
        i++;
    return i;
}

const struct metric *metrics_find(const struct metrics *m, const char *name)
{
    const unsigned i = position_of(m, name);

    return i < m->n ? &m->items[i] : NULL;
}

struct metric *metrics_get(struct metrics *m, const char *name)
{
    const unsigned i = position_of(m, name);
    struct metric *metric;

    if (i < m->n)
        return &m->items[i];
    if (m->n == METRICS_MOST || strlen(name) >= METRICS_NAME_BYTES ||
        (m->items == NULL && (m->items = calloc(METRICS_MOST, sizeof *m->items)) == NULL))
        return NULL;
    metric = &m->items[m->n];
    if (hist_init(&metric->hist) != 0)
        return NULL;
    snprintf(metric->name, sizeof metric->name, "%s", name);
    metric->has_counts = true;
    metric->batches = (struct batch_means){0};
    m->n++;
    return metric;
}

const char *metrics_shortage(const struct metrics *m, const char *full)
{
    return m->n == METRICS_MOST ? full : "out of memory";
}

int metrics_learn(struct metric *metric, const struct latency *l)
{
    struct hist *h = &metric->hist;

    h->beyond = l->over;
    if (h->count > 0 && (h->count != l->count || hist_index(h->min_ns) != hist_index(l->min_ns) ||
                         hist_index(h->max_ns) != hist_index(l->max_ns)))
        return -1;
    metric->has_counts = h->count == l->count;
    if (h->count == 0) /* 270 kB: 20,000 results have 300,000 metrics */
        hist_free(h);
    h->count = l->count;
    if (l->count == 0)
        return 0;
    h->clamped = l->clamped;
    h->min_ns = l->min_ns;
    h->max_ns = l->max_ns;
    hist_set_moments(h, l->mean_ns, l->stddev_ns);
    return 0;
}

int metrics_merge(struct metrics *into, const struct metrics *from)
{
    for (unsigned i = 0; i < from->n; i++) {
        const struct metric *metric = &from->items[i];
        struct metric *sum = metrics_get(into, metric->name);

        if (sum == NULL)
            return -1;
        hist_merge(&sum->hist, &metric->hist);
        sum->has_counts &= metric->has_counts;
    }
    return 0;
}

void metrics_latency(const struct metric *metric, struct latency *l)
{
    latency_of_hist(l, &metric->hist, &metric->batches);
    for (int i = 0; i < LATENCY_N_PERCENTILES && !metric->has_counts; i++)
        l->percentiles_ns[i] = LATENCY_UNKNOWN;
}
