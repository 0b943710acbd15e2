/* SPDX-License-Identifier: MIT
 * client_find_settings: see client/find_settings.h. */
#include "client/find_settings.h"

#include "base/units.h"

#include <math.h>

/* Start of every trial that is not measured: at least this long, or this many times the longest
 * limit. */
#define DISCARD_NS     (500 * UNITS_NS_PER_MS)
#define DISCARD_LIMITS 2

/* Minimum time between two trials, in addition to the transition: the lead time of a change, and
 * the drain. */
#define BETWEEN_NS (300 * UNITS_NS_PER_MS)

const char *client_find_settings_unit(int what)
{
    static const char *const units[] = {"", "q/s", "connections", "connections/s"};

    _Static_assert(sizeof units / sizeof *units == CLIENT_N_FINDS, "one for each");
    return units[what];
}

struct client_find_settings client_find_settings_of(const struct client_opts *o)
{
    return (struct client_find_settings){.what = o->find,
                                         .slo = o->goals,
                                         .min = o->find_min,
                                         .max = o->find_max,
                                         .width = o->find_part,
                                         .time_ns = o->find_time_ns,
                                         .rate_qps = o->rate_qps};
}

uint64_t client_find_settings_discard_ns(const struct client_find_settings *s)
{
    const uint64_t by_limit_ns = DISCARD_LIMITS * slo_longest_limit_ns(&s->slo);

    return by_limit_ns > DISCARD_NS ? by_limit_ns : DISCARD_NS;
}

struct search_config client_find_settings_search(const struct client_find_settings *s,
                                                 unsigned n_threads)
{
    const bool counts = s->what == CLIENT_FIND_CONNECTIONS; /* otherwise the load is a rate */

    return (struct search_config){
        .min = counts ? fmax(s->min, n_threads) : s->min,
        .max = s->max,
        .whole = counts,
        .width = s->width,
        .time_ns = s->time_ns,
        .queries_per_s = counts ? s->rate_qps : 0,
        .queries = slo_queries_needed(&s->slo),
        .limit_ns = slo_longest_limit_ns(&s->slo),
        .overhead_ns = client_find_settings_discard_ns(s) + BETWEEN_NS,
        .tries_recovery = !counts,
    };
}
