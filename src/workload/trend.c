/* SPDX-License-Identifier: MIT
 * trend: see workload/trend.h. */
#include "workload/trend.h"

static void add(struct trend_quarter *q, uint64_t in_flight)
{
    if (q->n == 0 || in_flight < q->least)
        q->least = in_flight;
    q->n++;
}

void trend_look(struct trend *t, uint64_t in_flight, uint64_t elapsed_ns, uint64_t duration_ns)
{
    const uint64_t quarter_ns = duration_ns / 4;

    if (elapsed_ns >= quarter_ns && elapsed_ns < 2 * quarter_ns)
        add(&t->early, in_flight);
    else if (elapsed_ns >= 3 * quarter_ns)
        add(&t->late, in_flight);
}

bool trend_least(const struct trend *t, uint64_t *early, uint64_t *late)
{
    *early = t->early.least;
    *late = t->late.least;
    return t->early.n > 0 && t->late.n > 0;
}
