/* SPDX-License-Identifier: MIT
 * closed_loop: see workload/closed_loop.h. */
#include "workload/closed_loop.h"

#include <assert.h>
#include <stdlib.h>

int closed_loop_init(struct closed_loop *q, uint32_t n_connections)
{
    *q = (struct closed_loop){.capacity = n_connections};
    q->ring = calloc(n_connections, sizeof *q->ring);
    return q->ring != NULL || n_connections == 0 ? 0 : -1;
}

void closed_loop_free(struct closed_loop *q)
{
    free(q->ring);
    *q = (struct closed_loop){0};
}

void closed_loop_push(struct closed_loop *q, uint64_t due_ns, uint32_t connection)
{
    uint32_t last = (q->first + q->count) % q->capacity;

    assert(q->count < q->capacity);
    q->ring[last] = (struct closed_loop_entry){due_ns, connection};
    q->count++;
}

uint64_t closed_loop_next_ns(const struct closed_loop *q)
{
    return q->count > 0 ? q->ring[q->first].due_ns : UINT64_MAX;
}

uint32_t closed_loop_pop(struct closed_loop *q)
{
    uint32_t connection = q->ring[q->first].connection;

    assert(q->count > 0);
    q->first = (q->first + 1) % q->capacity;
    q->count--;
    return connection;
}
