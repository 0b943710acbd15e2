/* SPDX-License-Identifier: MIT
 * rng: see base/rng.h. */
#include "base/rng.h"

#include <math.h>

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

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

uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint64_t product = (rng_next(r) >> 32) * n;

    if ((uint32_t)product < n) {
        const uint32_t biased = -n % n; /* 2^32 mod n: this many values would be too frequent */

        while ((uint32_t)product < biased)
            product = (rng_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

double rng_exponential(struct rng *r)
{
    return -log1p(-rng_uniform(r));
}
