/* SPDX-License-Identifier: MIT
 * arrivals: a worker's share of the arrivals of a run: when, and on which connection.  Pure; one
 * owner thread.
 *
 * There is one sequence of (time, connection) for all workers: it depends on seed, schedule, kind
 * of arrival, selection and number of connections, not on the number of workers.  Each worker
 * generates all of it and takes the arrivals on its own slice of consecutive connections.  Skipping
 * another worker's arrival costs 20 ns (Poisson) or 5 ns (constant): 2 % of a CPU at a million
 * arrivals per second.  Arrivals of a worker that takes none are dealt to the others round-robin.
 * Round-robin selection visits the connections in steps of about N / phi, so that every slice has
 * its share at any time. */
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
    bool random;            /* the choice; else round-robin */
    uint32_t n_connections; /* of all workers; >= n_workers */
    uint32_t n_workers, worker;
    bool none_at_start; /* as of the pacer */
    const bool *takes;  /* borrowed: of each worker, whether it takes arrivals; this one does */
};

struct arrivals {
    struct arrivals_config config;
    struct pacer pacer;  /* next_ns: this worker's next arrival; PACER_NEVER when there is none */
    uint32_t connection; /* of all: the choice for it, perhaps of a worker that takes none */
    struct rng rng;
    uint32_t first, end;      /* slice of the connections */
    uint32_t step;            /* round-robin */
    uint32_t n_takers, taker; /* workers that take arrivals; which of them this one is */
    uint64_t n_ownerless;     /* arrivals so far on connections of those that take none */
};

/* The slice of worker w of W: contiguous, the first N % W have one more.  Its first connection; its
 * end is where that of worker w + 1 begins. */
uint32_t arrivals_first_connection(uint32_t n_connections, uint32_t n_workers, uint32_t worker);

/* Begins at start_ns.  Both return how many arrivals of all workers lie between the one before (or
 * the start) and this worker's next one, that one included. */
uint64_t arrivals_start(struct arrivals *a, const struct arrivals_config *config,
                        uint64_t start_ns);
uint64_t arrivals_advance(struct arrivals *a);

#endif
