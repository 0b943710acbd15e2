/* SPDX-License-Identifier: MIT
 * timeout_counts: see measure/timeout_counts.h. */
#include "measure/timeout_counts.h"

#include <stddef.h>
#include <stdlib.h>

enum { N_VALUES = UINT16_MAX + 1 };

int timeout_counts_init(struct timeout_counts *t)
{
    t->counts = calloc(N_VALUES, sizeof *t->counts);
    return t->counts != NULL ? 0 : -1;
}

void timeout_counts_free(struct timeout_counts *t)
{
    free(t->counts);
    t->counts = NULL;
}

void timeout_counts_merge(struct timeout_counts *into, const struct timeout_counts *from)
{
    if (into->counts == NULL || from->counts == NULL)
        return;
    for (size_t value = 0; value < N_VALUES; value++)
        into->counts[value] += from->counts[value];
}

static void add(struct timeout_summary *s, uint16_t value, uint64_t n)
{
    if (s->n == 0)
        s->min = value;
    s->max = value;
    s->n += n;
    if (n > s->n_most_common) {
        s->most_common = value;
        s->n_most_common = n;
    }
}

struct timeout_summary timeout_counts_summary(const struct timeout_counts *t)
{
    struct timeout_summary s = {0};

    for (size_t value = 0; t->counts != NULL && value < N_VALUES; value++)
        if (t->counts[value] > 0)
            add(&s, (uint16_t)value, t->counts[value]);
    return s;
}
