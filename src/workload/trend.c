/* SPDX-License-Identifier: MIT
 * trend: see workload/trend.h. */
#include "workload/trend.h"

void trend_look(struct trend *g, uint64_t in_flight, uint64_t elapsed_ns, uint64_t duration_ns)
{
    const uint64_t quarter_ns = duration_ns / 4;

    if (elapsed_ns >= quarter_ns && elapsed_ns < 2 * quarter_ns) {
        g->early_sum += in_flight;
        g->n_early++;
    } else if (elapsed_ns >= 3 * quarter_ns) {
        g->late_sum += in_flight;
        g->n_late++;
    }
}

bool trend_means(const struct trend *g, uint64_t *early, uint64_t *late)
{
    if (g->n_early == 0 || g->n_late == 0)
        return false;
    *early = g->early_sum / g->n_early;
    *late = g->late_sum / g->n_late;
    return true;
}
