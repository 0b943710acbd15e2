/* SPDX-License-Identifier: MIT
 * losses: see measure/losses.h. */
#include "measure/losses.h"

#include "base/units.h"

#define SUDDEN_NS          UNITS_NS_PER_S
#define SUDDEN_NS_FOR_EACH 20000ull
#define LEAST_TIMEOUT_NS   500000000ull

int losses_init(struct losses *l)
{
    *l = (struct losses){.first_ns = UINT64_MAX};
    return hist_init(&l->idle);
}

void losses_free(struct losses *l)
{
    hist_free(&l->idle);
}

void losses_add(struct losses *l, uint64_t now_ns, uint64_t idle_ns)
{
    if (now_ns < l->first_ns)
        l->first_ns = now_ns;
    if (now_ns > l->last_ns)
        l->last_ns = now_ns;
    hist_record(&l->idle, idle_ns);
}

void losses_merge(struct losses *into, const struct losses *from)
{
    if (from->first_ns < into->first_ns)
        into->first_ns = from->first_ns;
    if (from->last_ns > into->last_ns)
        into->last_ns = from->last_ns;
    hist_merge(&into->idle, &from->idle);
}

/* A histogram counts 0 as 1 ns. */
uint64_t losses_median_idle_ns(const struct losses *l)
{
    const uint64_t median_ns = hist_percentile(&l->idle, 1, 2);

    return median_ns > 1 ? median_ns : 0;
}

bool losses_are_sudden(const struct losses *l)
{
    const uint64_t each_ns = l->idle.count * SUDDEN_NS_FOR_EACH;

    return l->idle.count > 0 &&
           l->last_ns - l->first_ns <= (each_ns > SUDDEN_NS ? each_ns : SUDDEN_NS);
}

bool losses_are_of_idleness(const struct losses *l)
{
    return l->idle.count > 0 && l->idle.min_ns >= LEAST_TIMEOUT_NS &&
           l->idle.min_ns >= losses_median_idle_ns(l) / 5 * 4;
}
