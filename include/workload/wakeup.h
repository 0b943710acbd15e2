/* SPDX-License-Identifier: MIT
 * wakeup: how long before a query is due its worker has to be awake.
 *
 * A timer wakes a sleeping thread late: by 3 to 50 us on bare metal, by 60 to 120 us on an idle
 * virtual machine, whose CPU has to leave its halt state first.  So the worker sets its timer that
 * much earlier and waits out the rest awake.  How much is learned from each time it was woken: the
 * 92nd percentile of the lateness seen, by stochastic approximation (H. Robbins, S. Monro, "A
 * Stochastic Approximation Method", 1951): a step up for a wake-up later than the estimate, a
 * small one down for an earlier one, in such a proportion that 8 % of the wake-ups are later.
 *
 * Waiting awake costs CPU time.  Where that is limited, a share of each second may be spent on it
 * (a token bucket that holds WAKEUP_SAVED_NS at most); without any left the worker sleeps until
 * the query is due, and is late.
 *
 * Pure: time is a parameter.  One for each worker, owned by its thread. */
#ifndef TCPSCALER_WORKLOAD_WAKEUP_H
#define TCPSCALER_WORKLOAD_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

#define WAKEUP_LEAST_NS 20000u
#define WAKEUP_FIRST_NS                                                                            \
    150000u /* until more is known: to be early costs little, to be late a figure */
#define WAKEUP_MOST_NS  300000u
#define WAKEUP_SAVED_NS 10000000u

struct wakeup {
    double share;        /* of a CPU that waiting may cost; >= 1: any; 0: always sleep until due */
    double lateness_ns;  /* the estimate, WAKEUP_LEAST_NS to WAKEUP_MOST_NS */
    double saved_ns;     /* CPU time left to spend on waiting */
    uint64_t counted_ns; /* until when the share has been added to it */
};

/* share >= 0; now_ns: CLOCK_MONOTONIC. */
void wakeup_init(struct wakeup *w, double share, uint64_t now_ns);

/* How long before the next query is due to be awake: the estimate, or 0 where the share is used
 * up.  now_ns does not decrease from call to call. */
uint64_t wakeup_ahead_ns(struct wakeup *w, uint64_t now_ns);

/* Learn: the thread slept, was to wake at wanted_ns, and did at woke_ns. */
void wakeup_woke(struct wakeup *w, uint64_t wanted_ns, uint64_t woke_ns);

/* The thread waited awake for so long. */
void wakeup_waited(struct wakeup *w, uint64_t waited_ns);

#endif
