/* SPDX-License-Identifier: MIT
 * pacer_steps: shared by the tests of pacer. */
#ifndef TCPSCALER_TESTS_UNIT_WORKLOAD_PACER_STEPS_H
#define TCPSCALER_TESTS_UNIT_WORKLOAD_PACER_STEPS_H

#include "workload/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S     1000000000ull
#define START 123456789012345ull

static inline struct pacer_config config_of(enum pacer_arrival arrival,
                                            const struct pacer_segment *segments, size_t n_segments)
{
    return (struct pacer_config){
        .arrival = arrival,
        .segments = segments,
        .n_segments = n_segments,
        .n_connections = 1,
        .n_workers = 1,
        .seed = 20260131,
    };
}

/* Arrivals of the schedule in [from_ns, to_ns), relative to its start. */
static inline unsigned count_between(const struct pacer_config *c, uint64_t from_ns, uint64_t to_ns)
{
    struct pacer p;
    unsigned n = 0;

    for (pacer_start(&p, c, START); p.next_ns != PACER_NEVER; pacer_advance(&p))
        n += p.next_ns - START >= from_ns && p.next_ns - START < to_ns;
    return n;
}

struct ramp {
    struct pacer_segment segments[3];
    size_t n_segments;
    unsigned n_expected[3]; /* arrivals in each segment */
};

#endif
