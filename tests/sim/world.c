/* SPDX-License-Identifier: MIT
 * world: see world.h. */
#include "world.h"

#include "fiber.h"
#include "memory.h"
#include "violation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Far from 0, so that a time that was never set is noticed. */
#define BEGIN_NS 1000000000000ull

/* A run of this length has not ended. */
#define MOST_NS (100000 * 1000000000ull)

struct world world;

struct event {
    uint64_t at_ns, order;
    void (*happen)(uint64_t object, uint64_t arg);
    uint64_t object, arg;
};

/* A binary heap. */
static struct event *heap;
static size_t n_events, room;
static uint64_t next_order;

void world_begin(const struct scenario *s)
{
    const bool prints_trace = world.prints_trace, prints_messages = world.prints_messages;

    world = (struct world){.scenario = *s,
                           .now_ns = BEGIN_NS,
                           .prints_trace = prints_trace,
                           .prints_messages = prints_messages};
    rng_seed(&world.dice, s->seed, 1);
    n_events = 0;
    next_order = 0;
    world.active = true;
}

void world_end(void)
{
    world.active = false;
}

uint64_t world_since_begin_ns(void)
{
    return world.now_ns - BEGIN_NS;
}

/* --- events --- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void push(const struct event *e)
{
    size_t i = n_events++;

    while (i > 0 && is_before(e, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = *e;
}

static struct event pop(void)
{
    const struct event first = heap[0], last = heap[--n_events];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < n_events) {
        if (child + 1 < n_events && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

void world_at(uint64_t at_ns, void (*happen)(uint64_t object, uint64_t arg), uint64_t object,
              uint64_t arg)
{
    const struct event e = {at_ns > world.now_ns ? at_ns : world.now_ns, next_order++, happen,
                            object, arg};

    if (n_events == room) {
        room = room > 0 ? 2 * room : 1024;
        heap = memory_own(heap, room * sizeof *heap);
    }
    push(&e);
}

uint64_t world_next_ns(void)
{
    return n_events > 0 ? heap[0].at_ns : WORLD_NEVER;
}

void world_happen(void)
{
    const struct event e = pop();

    if (e.at_ns > world.now_ns)
        world.now_ns = e.at_ns;
    LAW(world_since_begin_ns() < MOST_NS, "the run does not end");
    e.happen(e.object, e.arg);
}

void world_pass(uint64_t ns)
{
    world.now_ns += ns;
    while (n_events > 0 && heap[0].at_ns <= world.now_ns)
        world_happen();
}

/* --- dice --- */

bool world_chance(uint64_t permille)
{
    return permille > 0 && rng_below(&world.dice, 1000) < permille;
}

uint64_t world_up_to(uint64_t most)
{
    if (most == 0)
        return 0;
    return most < UINT32_MAX ? rng_below(&world.dice, (uint32_t)most + 1)
                             : rng_next(&world.dice) % (most + 1);
}

/* --- trace --- */

void world_trace_line(const char *what, int64_t a, int64_t b, int64_t c)
{
    printf("%14" PRIu64 " %d %-12s %" PRId64 " %" PRId64 " %" PRId64 "\n", world_since_begin_ns(),
           fiber_current(), what, a, b, c);
}
