/* SPDX-License-Identifier: MIT
 * srccursor: see workload/srccursor.h. */
#include "workload/srccursor.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void srccursor_init(struct srccursor *c, const struct srcplan *plan, uint64_t first, uint64_t count,
                    _Atomic uint64_t *spare)
{
    const uint64_t capacity = srcplan_capacity(plan);

    *c = (struct srccursor){
        .plan = plan,
        .next = least(first, capacity),
        .end = least(first + count, capacity),
        .spare = spare,
    };
}

void srccursor_free(struct srccursor *c)
{
    free(c->returned);
    c->returned = NULL;
    c->n_returned = c->room = 0;
}

/* Does not increment an exhausted counter, which must not wrap around. */
static uint64_t take_spare(struct srccursor *c, uint64_t capacity)
{
    if (atomic_load_explicit(c->spare, memory_order_relaxed) >= capacity)
        return capacity;
    return atomic_fetch_add_explicit(c->spare, 1, memory_order_relaxed);
}

static uint64_t take_returned(struct srccursor *c, uint64_t capacity)
{
    uint64_t number;

    if (c->n_returned == 0)
        return capacity;
    number = c->returned[c->first_returned];
    c->first_returned = (c->first_returned + 1) % c->room;
    c->n_returned--;
    return number;
}

int srccursor_next(struct srccursor *c, struct srcplan_tuple *tuple, uint64_t *number)
{
    const uint64_t capacity = srcplan_capacity(c->plan);

    *number = c->next < c->end ? c->next++ : take_spare(c, capacity);
    if (*number >= capacity)
        *number = take_returned(c, capacity);
    if (*number >= capacity)
        return -1;
    srcplan_at(c->plan, *number, tuple);
    return 0;
}

bool srccursor_has_fresh(const struct srccursor *c)
{
    return c->next < c->end ||
           atomic_load_explicit(c->spare, memory_order_relaxed) < srcplan_capacity(c->plan);
}

static int grow(struct srccursor *c)
{
    const uint32_t room = c->room > 0 ? c->room * 2 : FIRST_ROOM;
    uint64_t *ring = malloc(room * sizeof *ring);
    const uint32_t to_end = c->room - c->first_returned;

    if (ring == NULL)
        return -1;
    if (c->room > 0) {
        memcpy(ring, c->returned + c->first_returned, to_end * sizeof *ring);
        memcpy(ring + to_end, c->returned, c->first_returned * sizeof *ring);
    }
    free(c->returned);
    c->returned = ring;
    c->room = room;
    c->first_returned = 0;
    return 0;
}

/* Whether more spare tuples are left than can ever be in use, or in TIME_WAIT, at a time. */
static bool has_plenty(const struct srccursor *c, uint64_t capacity)
{
    const uint64_t spare = atomic_load_explicit(c->spare, memory_order_relaxed);

    return capacity > spare && capacity - spare > SRCCURSOR_PLENTY;
}

void srccursor_give_back(struct srccursor *c, uint64_t number)
{
    const uint64_t capacity = srcplan_capacity(c->plan);

    if (capacity == UINT64_MAX || has_plenty(c, capacity)) /* UINT64_MAX: the kernel chooses */
        return;
    if (c->n_returned == c->room && grow(c) != 0)
        return;
    c->returned[(c->first_returned + c->n_returned++) % c->room] = number;
}
