/* SPDX-License-Identifier: MIT
 * rng: see base/rng.h. */
#include "base/rng.h"

#include <math.h>

/* splitmix64 (Steele, Lea and Flood, 2014): spreads a seed over the state. */
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t state = splitmix64(&seed);

    state ^= splitmix64(&stream);
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix64(&state);
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_exponential(struct rng *r)
{
    return -log1p(-rng_uniform(r));
}
