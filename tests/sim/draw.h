/* SPDX-License-Identifier: MIT
 * draw: random numbers for scenarios, and the fields that scenarios of tcpclient and of tcpserver
 * draw in the same way.
 *
 * Each call takes numbers from r in a fixed order, so a seed always gives the same scenario. */
#ifndef TCPSCALER_SIM_DRAW_H
#define TCPSCALER_SIM_DRAW_H

#include "base/rng.h"
#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* Uniform; both ends are included. */
static inline uint64_t between(struct rng *r, uint64_t least, uint64_t most)
{
    return least + rng_below(r, (uint32_t)(most - least + 1));
}

/* Small values as likely as large ones: uniform in the logarithm. */
static inline uint64_t of_any_size(struct rng *r, uint64_t least, uint64_t most)
{
    uint64_t v = most;

    while (v > 2 * least && rng_below(r, 100) < 70)
        v /= 2;
    return between(r, least, v);
}

static inline bool one_in(struct rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}

/* One time in n, sets the field to a value of between() or of_any_size(). */
void draw_between(struct rng *r, uint32_t n, uint64_t *field, uint64_t least, uint64_t most);
void draw_size(struct rng *r, uint32_t n, uint64_t *field, uint64_t least, uint64_t most);

/* latency_us and jitter_us. */
void draw_latency(struct scenario *s, struct rng *r);

/* syn_lost_permille. */
void draw_lost_syns(struct scenario *s, struct rng *r);

/* Faults of send(2) and recv(2). */
void draw_io_faults(struct scenario *s, struct rng *r);

/* How often a thread is preempted, and in which order it finds descriptors ready. */
void draw_scheduling(struct scenario *s, struct rng *r);

/* Uses TLS; whether connections resume. */
void draw_tls_version(struct scenario *s, struct rng *r);

/* Faults of TLS, and key updates. */
void draw_tls_faults(struct scenario *s, struct rng *r);

#endif
