/* SPDX-License-Identifier: MIT
 * pacer: when the next query is due.  It knows time and rates, not connections, sockets or timers.
 * Pure; one pacer per worker, owned by it.
 *
 * A pacer is an absolute schedule: arrival times depend on its configuration only, never on when it
 * is called, so a late caller catches up and nothing drifts.  The rate is a sequence of segments,
 * each linear in time; arrivals are those of a unit-rate process mapped through the inverse of the
 * integrated rate, so slopes are exact and boundaries cause no burst.
 *
 * Sharing: N connections are dealt to W workers like cards (worker w has the cards w, w+W, ... of
 * each round of N).  PACER_CONSTANT gives every worker its own cards of one common grid, so that
 * round-robin over all workers has the exact period N/rate per connection, even if W does not
 * divide N.  PACER_POISSON gives each worker an independent process of rate * n_w / N. */
#ifndef TCPSCALER_WORKLOAD_PACER_H
#define TCPSCALER_WORKLOAD_PACER_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACER_NEVER UINT64_MAX

enum pacer_arrival { PACER_POISSON, PACER_CONSTANT, PACER_N_ARRIVALS };

/* The rate changes linearly from rate_begin_qps to rate_end_qps over duration_ns (PACER_NEVER:
 * forever, with both rates equal).  Rates are finite and >= 0. */
struct pacer_segment {
    uint64_t duration_ns;
    double rate_begin_qps;
    double rate_end_qps;
};

struct pacer_config {
    enum pacer_arrival arrival;
    const struct pacer_segment *segments; /* borrowed, must outlive the pacer */
    size_t n_segments;                    /* at least 1 */
    uint32_t n_connections;               /* N, of all workers; >= n_workers */
    uint32_t n_workers;                   /* W >= 1 */
    uint32_t worker;                      /* w < W */
    uint64_t seed;
    bool none_at_start; /* constant: leave out the arrival at the very start */
    /* This pacer's part of the rates, if several pacers share the schedule, each with its own
     * connections; 0: all. */
    double part;
};

struct pacer {
    struct pacer_config config;
    struct rng rng;
    uint64_t start_ns;
    uint64_t next_ns;      /* the next arrival, absolute; PACER_NEVER when the schedule is over */
    double share;          /* Poisson: this worker's part of the rate, n_w / N, of `part` */
    double step;           /* constant: arrivals of the schedule from one of the part to the next */
    uint64_t round;        /* constant: arrivals of the finished rounds of N */
    uint64_t card;         /* constant: position within the round */
    double target;         /* arrivals of the unit process up to and including the next one */
    size_t segment;        /* where the next arrival lies */
    double before_segment; /* integral of the rate up to the segment ... */
    double segment_arrivals;   /* ... and over it */
    uint64_t segment_start_ns; /* relative to start_ns */
};

/* How many of N connections worker w of W has: dealt like cards, the first N % W have one more. */
uint32_t pacer_connections_of(uint32_t n_connections, uint32_t n_workers, uint32_t worker);

/* Begins the schedule at start_ns (CLOCK_MONOTONIC).  The first constant arrival of worker 0 is at
 * start_ns itself, or where the rate first is above 0.  Afterwards next_ns is valid. */
void pacer_start(struct pacer *p, const struct pacer_config *config, uint64_t start_ns);

/* Replaces the schedule.  Its elapsed part must contain as many arrivals as the old one's; later
 * arrivals continue without gap or burst.  The segments are borrowed as before. */
void pacer_replace(struct pacer *p, const struct pacer_segment *segments, size_t n_segments);

/* If the next arrival is before at_ns, delays the schedule so that it is due then; the later ones
 * keep their distances.  For a constant rate without end. */
void pacer_skip_to(struct pacer *p, uint64_t at_ns);

/* Advances to the arrival after next_ns.  next_ns never decreases, except through pacer_replace().
 */
void pacer_advance(struct pacer *p);

/* Advances to the n-th arrival after it, also while the schedule has none left: another one may
 * replace it. */
void pacer_advance_by(struct pacer *p, uint64_t n);

#endif
