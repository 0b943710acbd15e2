/* SPDX-License-Identifier: MIT
 * deadlines: see workload/deadlines.h. */
#include "workload/deadlines.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

int deadlines_init(struct deadlines *d, uint32_t n_slots)
{
    *d = (struct deadlines){.heap = calloc(n_slots, sizeof *d->heap),
                            .positions = calloc(n_slots, sizeof *d->positions)};
    return d->heap != NULL && d->positions != NULL ? 0 : -1;
}

void deadlines_free(struct deadlines *d)
{
    free(d->heap);
    free(d->positions);
    *d = (struct deadlines){.heap = NULL};
}

static void put(struct deadlines *d, uint32_t i, struct deadline deadline)
{
    d->heap[i] = deadline;
    d->positions[deadline.slot] = i + 1;
}

/* Finds the position of a deadline that belongs at index i or nearer to the root. */
static void sift_up(struct deadlines *d, uint32_t i, struct deadline deadline)
{
    for (; i > 0 && d->heap[(i - 1) / 2].at_ns > deadline.at_ns; i = (i - 1) / 2)
        put(d, i, d->heap[(i - 1) / 2]);
    put(d, i, deadline);
}

/* Likewise, at index i or farther from the root. */
static void sift_down(struct deadlines *d, uint32_t i, struct deadline deadline)
{
    uint32_t child;

    for (; (child = 2 * i + 1) < d->n; i = child) {
        child += child + 1 < d->n && d->heap[child + 1].at_ns < d->heap[child].at_ns;
        if (d->heap[child].at_ns >= deadline.at_ns)
            break;
        put(d, i, d->heap[child]);
    }
    put(d, i, deadline);
}

static void sift(struct deadlines *d, uint32_t i, struct deadline deadline)
{
    if (i > 0 && d->heap[(i - 1) / 2].at_ns > deadline.at_ns)
        sift_up(d, i, deadline);
    else
        sift_down(d, i, deadline);
}

void deadlines_set(struct deadlines *d, uint32_t slot, uint64_t at_ns)
{
    const uint32_t position = d->positions[slot];

    sift(d, position > 0 ? position - 1 : d->n++, (struct deadline){at_ns, slot});
}

/* The last deadline of the heap takes the free position. */
void deadlines_clear(struct deadlines *d, uint32_t slot)
{
    const uint32_t position = d->positions[slot];

    if (position == 0)
        return;
    d->positions[slot] = 0;
    if (position - 1 != --d->n)
        sift(d, position - 1, d->heap[d->n]);
}

uint32_t deadlines_take(struct deadlines *d)
{
    uint32_t slot;

    assert(d->n > 0);
    slot = d->heap[0].slot;
    deadlines_clear(d, slot);
    return slot;
}
