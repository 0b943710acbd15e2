/* SPDX-License-Identifier: MIT
 * rng: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018),
 * seeded through splitmix64.  Pure; one generator has one owner.  Same seed and stream: the same
 * numbers on every machine.
 *
 * Functions called for every query are inline. */
#ifndef TCPSCALER_BASE_RNG_H
#define TCPSCALER_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* Streams of one seed are independent for all practical purposes; they are numbered by worker and
 * purpose. */
void rng_seed(struct rng *r, uint64_t seed, uint64_t stream);

static inline uint64_t rng_rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* Uniform over all 64-bit values. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s;
    const uint64_t result = rng_rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate_left(s[3], 45);
    return result;
}

/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *r);

/* Uniform in 0..n-1 without bias (Lemire, "Fast random integer generation in an interval", 2019).
 * n >= 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint64_t product = (rng_next(r) >> 32) * n;

    if ((uint32_t)product < n) {
        const uint32_t biased = -n % n; /* 2^32 mod n: this many values would be too frequent */

        while ((uint32_t)product < biased)
            product = (rng_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

/* Exponential with mean 1: -ln(1 - U), always finite and >= 0. */
double rng_exponential(struct rng *r);

#endif
