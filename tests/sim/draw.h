/* SPDX-License-Identifier: MIT
 * draw: numbers of a random scenario. */
#ifndef TCPSCALER_SIM_DRAW_H
#define TCPSCALER_SIM_DRAW_H

#include "base/rng.h"

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

#endif
