/* SPDX-License-Identifier: MIT
 * watch_series: see measure/watch_series.h. */
#include "measure/watch_series.h"

#include <stdlib.h>
#include <string.h>

#define FIGURE_KEY(id, key) key,

static const char *const keys[] = {WATCH_FIGURES(FIGURE_KEY)};

const char *watch_figure_key(enum watch_figure figure)
{
    return keys[figure];
}

enum watch_figure watch_figure_of(const char *key)
{
    int i = 0;

    while (i < WATCH_N_FIGURES && strcmp(keys[i], key) != 0)
        i++;
    return (enum watch_figure)i;
}

void watch_sample_init(struct watch_sample *sample)
{
    for (int i = 0; i < WATCH_N_FIGURES; i++)
        sample->at[i] = WATCH_UNKNOWN;
}

/* Returns 0, or -1 if out of memory. */
static int begin(struct watch_series *s)
{
    s->items = malloc(WATCH_SERIES_MOST * sizeof *s->items);
    s->every = 1;
    watch_sample_init(&s->most);
    watch_sample_init(&s->least);
    return s->items != NULL ? 0 : -1;
}

static void note_extremes(struct watch_series *s, const struct watch_sample *sample)
{
    for (int i = 0; i < WATCH_N_FIGURES; i++) {
        const uint64_t value = sample->at[i];

        if (value == WATCH_UNKNOWN)
            continue;
        if (s->most.at[i] == WATCH_UNKNOWN || value > s->most.at[i])
            s->most.at[i] = value;
        if (value < s->least.at[i]) /* unknown is the highest number */
            s->least.at[i] = value;
    }
}

/* Drops every other sample that is not fixed.  The next sample comes at the old distance from the
 * last one, so if the last one is kept, the next is dropped. */
static void drop_every_other(struct watch_series *s)
{
    size_t n = s->n_fixed;

    for (size_t i = n; i < s->n; i += 2)
        s->items[n++] = s->items[i];
    s->n_since = (s->n - s->n_fixed) % 2 == 1 ? s->every : 0;
    s->n = n;
    s->every *= 2;
}

int watch_series_add(struct watch_series *s, const struct watch_sample *sample)
{
    if (s->items == NULL && begin(s) != 0)
        return -1;
    note_extremes(s, sample);
    if (s->n_since > 0) /* the one before was kept as the newest only */
        s->n--;
    s->n_since = s->n > s->n_fixed ? (s->n_since + 1) % s->every : 0;
    if (s->n_since == 0 && s->n == WATCH_SERIES_MOST - 1)
        drop_every_other(s);
    s->items[s->n++] = *sample;
    return 0;
}

void watch_series_fix(struct watch_series *s)
{
    if (s->n_fixed > 0)
        return;
    while (s->n > WATCH_SERIES_MOST / 2)
        drop_every_other(s);
    s->n_fixed = s->n;
    s->every = 1;
    s->n_since = 0;
}

void watch_series_free(struct watch_series *s)
{
    free(s->items);
    *s = (struct watch_series){0};
}

uint64_t watch_series_most(const struct watch_series *s, enum watch_figure figure)
{
    return s->n > 0 ? s->most.at[figure] : WATCH_UNKNOWN;
}

uint64_t watch_series_least(const struct watch_series *s, enum watch_figure figure)
{
    return s->n > 0 ? s->least.at[figure] : WATCH_UNKNOWN;
}

uint64_t watch_series_growth(const struct watch_series *s, enum watch_figure figure)
{
    uint64_t first = WATCH_UNKNOWN, last = WATCH_UNKNOWN;
    size_t n_known = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->items[i].at[figure] == WATCH_UNKNOWN)
            continue;
        if (n_known++ == 0)
            first = s->items[i].at[figure];
        last = s->items[i].at[figure];
    }
    return n_known < 2 || last < first ? WATCH_UNKNOWN : last - first;
}
