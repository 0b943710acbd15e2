/* SPDX-License-Identifier: MIT
 * search_void: see client/search/search_void.h. */
#include "client/search/search_void.h"

#include "base/units.h"
#include "client/search/search_load.h"
#include "client/search/search_round.h"

#include <stddef.h>

/* Void trials of a load are repeated until they outnumber its others by more than this.  More of
 * them in a row, due to noise, do not count. */
enum { MOST_VOID = 3 };

#define PART_OF_TIME 20 /* void trials due to noise: at most this part of the search, ... */
#define MOST_NS      (60 * UNITS_NS_PER_S) /* ... and no longer than this */

static bool is_of(const struct search_trial *t, double load)
{
    return search_round_counts(t) && t->order.load == load;
}

bool search_void_stays(const struct search *s, double load)
{
    int excess = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (!is_of(&s->trials[i], load))
            continue;
        if (s->trials[i].judgment.class != TRIAL_VOID)
            excess--;
        else if (excess <= MOST_VOID)
            excess++;
    }
    return excess > MOST_VOID;
}

static bool is_delayed(const struct trial_judgment *j)
{
    return j->reason == TRIAL_GENERATOR_LIMITED || j->reason == TRIAL_HOST_NOISE;
}

bool search_void_may_pass(const struct search *s, double load)
{
    const uint64_t part_ns = s->config.time_ns / PART_OF_TIME;
    uint64_t void_ns = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_trial *t = &s->trials[i];

        if (!is_of(t, load) || t->judgment.class != TRIAL_VOID)
            continue;
        if (!is_delayed(&t->judgment))
            return false;
        void_ns += t->measured_ns + s->config.overhead_ns;
    }
    return void_ns < (part_ns < MOST_NS ? part_ns : MOST_NS);
}

static bool lacked_connections(const struct search *s, double load)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_of(&s->trials[i], load) && s->trials[i].judgment.reason == TRIAL_CONNECTIONS)
            return true;
    return false;
}

double search_void_next(const struct search *s, double lower, double load)
{
    if (1 - lower / load <= SEARCH_VOID_WIDTH || lower == 0 || lacked_connections(s, load))
        return 0;
    return search_load_middle(&s->config, lower, load);
}
