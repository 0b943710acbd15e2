/* SPDX-License-Identifier: MIT
 * rng: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018),
 * seeded through splitmix64.  Pure; one generator has one owner.  Same seed and stream: the same
 * numbers on every machine. */
#ifndef TCPSCALER_BASE_RNG_H
#define TCPSCALER_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* Streams of one seed are independent for all practical purposes; they are numbered by worker and
 * purpose. */
void rng_seed(struct rng *r, uint64_t seed, uint64_t stream);

/* Uniform over all 64-bit values. */
uint64_t rng_next(struct rng *r);

/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *r);

/* Uniform in 0..n-1 without bias (Lemire, "Fast random integer generation in an interval", 2019).
 * n >= 1. */
uint32_t rng_below(struct rng *r, uint32_t n);

/* Exponential with mean 1: -ln(1 - U), always finite and >= 0. */
double rng_exponential(struct rng *r);

#endif
