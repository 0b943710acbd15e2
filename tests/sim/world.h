/* SPDX-License-Identifier: MIT
 * world: the simulated time, the pending events, the random numbers and the trace.
 *
 * One scenario at a time, single-threaded. Each call takes some time; when all fibers sleep, time
 * jumps to the next event. */
#ifndef TCPSCALER_SIM_WORLD_H
#define TCPSCALER_SIM_WORLD_H

#include "base/rng.h"
#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORLD_NEVER UINT64_MAX

/* CLOCK_REALTIME at the start of CLOCK_MONOTONIC: some day in 2026. */
#define WORLD_EPOCH_NS 1790000000000000000ull

struct world {
    bool active; /* otherwise the calls are the kernel's */
    struct scenario scenario;
    uint64_t now_ns;
    struct rng dice;
    uint64_t trace;                     /* hash of all that has happened */
    bool prints_trace, prints_messages; /* prints_messages: those of the product */
    uint64_t n_calls, n_faults;
};

extern struct world world;

/* Resets everything to the start of this scenario. */
void world_begin(const struct scenario *s);
void world_end(void);

uint64_t world_since_begin_ns(void);

/* --- events --- */

/* Calls `happen(object, arg)` at at_ns, or now if that is past; events at the same time happen in
 * the order in which they were added. */
void world_at(uint64_t at_ns, void (*happen)(uint64_t object, uint64_t arg), uint64_t object,
              uint64_t arg);

/* WORLD_NEVER: none. */
uint64_t world_next_ns(void);

/* Lets the next event happen; now_ns is at least its time. */
void world_happen(void);

/* Advances the time by `ns`; events in that period happen. */
void world_pass(uint64_t ns);

/* --- dice --- */

bool world_chance(uint64_t permille);

/* 0..most. */
uint64_t world_up_to(uint64_t most);

/* --- trace --- */

void world_trace_line(const char *what, int64_t a, int64_t b, int64_t c);

static inline uint64_t world_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* Adds data sent and received to the trace. */
static inline void world_trace_bytes(const void *data, size_t n_bytes)
{
    const unsigned char *at = data;
    uint64_t word;

    for (; n_bytes >= sizeof word; n_bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        world.trace = world_mix(world.trace, word);
    }
    for (; n_bytes > 0; n_bytes--)
        world.trace = world_mix(world.trace, *at++);
}

/* `what` is a constant. */
static inline void world_trace(const char *what, int64_t a, int64_t b, int64_t c)
{
    uint64_t hash = world_mix(world.trace, world.now_ns);

    hash = world_mix(hash, (uint64_t)(unsigned char)what[0] << 8 | (unsigned char)what[1]);
    hash = world_mix(hash, (uint64_t)a << 32 ^ (uint64_t)b);
    world.trace = world_mix(hash, (uint64_t)c);
    if (world.prints_trace)
        world_trace_line(what, a, b, c);
}

#endif
