/* SPDX-License-Identifier: MIT
 * losses: see measure/losses.h. */
#include "measure/losses.h"

#include <stdio.h>

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
static uint64_t percentile(const struct losses *l, uint32_t num, uint32_t den)
{
    const uint64_t idle_ns = hist_percentile(&l->idle, num, den);

    return idle_ns > 1 ? idle_ns : 0;
}

uint64_t losses_median_idle_ns(const struct losses *l)
{
    return percentile(l, 1, 2);
}

uint64_t losses_idle_of_most_ns(const struct losses *l)
{
    return percentile(l, 5, 100);
}

bool losses_are_sudden(const struct losses *l)
{
    const uint64_t each_ns = l->idle.count * SUDDEN_NS_FOR_EACH;

    return l->idle.count > 0 &&
           l->last_ns - l->first_ns <= (each_ns > SUDDEN_NS ? each_ns : SUDDEN_NS);
}

static bool is_timeout(const struct losses *l, uint64_t least_ns)
{
    return least_ns >= LEAST_TIMEOUT_NS && least_ns >= losses_median_idle_ns(l) / 5 * 4;
}

bool losses_are_of_idleness(const struct losses *l)
{
    return is_timeout(l, losses_idle_of_most_ns(l));
}

bool losses_have_exceptions(const struct losses *l)
{
    return losses_are_of_idleness(l) && !is_timeout(l, l->idle.min_ns);
}

const char *losses_format_idle(char text[LOSSES_TEXT_BYTES], const struct losses *l,
                               uint64_t least_ns)
{
    const uint64_t median_ns = losses_median_idle_ns(l);
    const bool has_least = least_ns >= UNITS_NS_PER_MS;
    char limit[UNITS_TEXT_BYTES], median[UNITS_TEXT_BYTES] = "below 1 ms";

    if (l->idle.max_ns < UNITS_NS_PER_MS) {
        snprintf(text, LOSSES_TEXT_BYTES, "idle for less than 1 ms");
        return text;
    }
    units_format_duration(limit, has_least ? least_ns : l->idle.max_ns);
    if (median_ns >= UNITS_NS_PER_MS)
        units_format_duration(median, median_ns);
    snprintf(text, LOSSES_TEXT_BYTES, "idle for at %s %s, median %s", has_least ? "least" : "most",
             limit, median);
    return text;
}
