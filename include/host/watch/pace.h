/* SPDX-License-Identifier: MIT
 * watch_pace: how often an expensive reading is taken, so that it takes at most a given part of one
 * CPU's time, whatever it costs on this host.  Pure. */
#ifndef TCPSCALER_HOST_WATCH_PACE_H
#define TCPSCALER_HOST_WATCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* A reading that took t of CPU time is followed by a wait of this many times t: 1 % of a CPU, or
 * 0.1 % under load. */
enum { WATCH_PACE_REST = 99, WATCH_PACE_LONG_REST = 999 };

struct watch_pace {
    uint64_t due_ns; /* zero-initialize: the first is due at once */
};

static inline bool watch_pace_is_due(const struct watch_pace *p, uint64_t now_ns)
{
    return now_ns >= p->due_ns;
}

static inline void watch_pace_took(struct watch_pace *p, uint64_t now_ns, uint64_t cost_ns,
                                   unsigned rest)
{
    p->due_ns = now_ns + rest * cost_ns;
}

#endif
