/* SPDX-License-Identifier: MIT
 * arrivals: a worker's share of the arrivals of a run: when, and on which connection.  Pure; one
 * owner thread.
 *
 * There is one sequence of (time, connection) for all workers.  It depends on seed, schedule, kind
 * of arrival, selection and number of connections, not on the number of workers.  Each worker
 * generates the whole sequence and takes the arrivals on its own slice of connections.  Skipping
 * another worker's arrival costs 20 ns (Poisson) or 5 ns (constant): 2 % of a CPU at a million
 * arrivals per second.  Arrivals of workers that take none are distributed round-robin over the
 * others.  Round-robin selection visits the connections in steps of about N / phi, so that at any
 * time every slice has had its share. */
#ifndef TCPSCALER_WORKLOAD_ARRIVALS_H
#define TCPSCALER_WORKLOAD_ARRIVALS_H

#include "base/rng.h"
#include "workload/pacer.h"

#include <stdbool.h>
#include <stdint.h>

struct arrivals_config {
    enum pacer_arrival arrival;
    const struct pacer_segment *segments; /* borrowed, must outlive the arrivals */
    size_t n_segments;
    uint64_t seed;
    bool random;            /* otherwise round-robin */
    uint32_t n_connections; /* of all workers; >= n_workers, or `takes` is NULL */
    uint32_t n_workers, worker;
    bool none_at_start; /* see struct pacer_config */
    double part;        /* likewise */
    /* Borrowed: one flag per worker, set if it takes arrivals; set for this one.  NULL: all take
     * theirs, and this one has connections. */
    const bool *takes;
};

struct arrivals {
    struct arrivals_config config;
    struct pacer pacer;  /* next_ns: this worker's next arrival; PACER_NEVER: none */
    uint32_t connection; /* selected for that arrival; may belong to a worker that takes none */
    struct rng rng;
    uint32_t first, end; /* this worker's slice */
    uint32_t step;       /* round-robin */
    /* Number of workers that take arrivals; this one's index among them. */
    uint32_t n_takers, taker;
    uint64_t n_ownerless; /* arrivals so far for connections of workers that take none */
};

/* Returns the first connection of worker w of W.  Slices are contiguous, the first N % W get one
 * more, and a slice ends where the next one begins. */
uint32_t arrivals_first_connection(uint32_t n_connections, uint32_t n_workers, uint32_t worker);

/* Starts at start_ns.  Both functions return the number of arrivals, of all workers, from the
 * previous one (or the start) up to and including this worker's next one. */
uint64_t arrivals_start(struct arrivals *a, const struct arrivals_config *config,
                        uint64_t start_ns);
uint64_t arrivals_advance(struct arrivals *a);

#endif
