/* SPDX-License-Identifier: MIT
 * wakeup: how long before a query is due its worker must be awake.
 *
 * A timer wakes up a sleeping thread late: by 3 to 50 us on bare metal, by 60 to 120 us on an idle
 * virtual machine, whose CPU must first leave its halt state.  So the worker sets its timer that
 * much earlier and busy-waits for the rest.  The time is learned from every wake-up: the 92nd
 * percentile of the lateness, by stochastic approximation (H. Robbins, S. Monro, "A Stochastic
 * Approximation Method", 1951): a large step up for a wake-up later than the estimate, a small step
 * down for an earlier one, in such a proportion that 8 % of the wake-ups are later.
 *
 * Busy-waiting costs CPU time.  If it is limited, a fraction of each second may be spent on it (a
 * token bucket that holds at most WAKEUP_SAVED_NS); while the bucket holds less than the estimate,
 * the worker sleeps until the query is due, and sends it late.
 *
 * Pure: time is a parameter.  One per worker, owned by its thread. */
#ifndef TCPSCALER_WORKLOAD_WAKEUP_H
#define TCPSCALER_WORKLOAD_WAKEUP_H

#include <stdint.h>

#define WAKEUP_LEAST_NS 20000u
/* initial estimate: too early costs little, too late spoils a measurement */
#define WAKEUP_FIRST_NS 150000u
#define WAKEUP_MOST_NS  300000u
#define WAKEUP_SAVED_NS 10000000u

struct wakeup {
    /* Fraction of a CPU for busy-waiting; >= 1: unlimited; 0: always sleep until due. */
    double share;
    double lateness_ns;  /* the estimate, from WAKEUP_LEAST_NS to WAKEUP_MOST_NS */
    double saved_ns;     /* CPU time in the token bucket */
    uint64_t counted_ns; /* last refill of the bucket */
};

/* share >= 0; now_ns: CLOCK_MONOTONIC. */
void wakeup_init(struct wakeup *w, double share, uint64_t now_ns);

/* Returns how long before the next query is due to wake up: the estimate, or 0 if the bucket holds
 * less than that.  now_ns must not decrease. */
uint64_t wakeup_ahead_ns(struct wakeup *w, uint64_t now_ns);

/* Learns from a wake-up: wanted at wanted_ns, actual at woke_ns. */
void wakeup_woke(struct wakeup *w, uint64_t wanted_ns, uint64_t woke_ns);

/* Accounts for busy-waiting. */
void wakeup_waited(struct wakeup *w, uint64_t waited_ns);

#endif
