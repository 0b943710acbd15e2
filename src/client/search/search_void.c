/* SPDX-License-Identifier: MIT
 * search_void: see client/search/search_void.h. */
#include "client/search/search_void.h"

#include "client/search/search_load.h"
#include "client/search/search_round.h"

#include <stddef.h>

/* Void trials of a load are repeated until they outnumber its others by more than this. */
enum { MOST_VOID = 3 };

static bool is_of(const struct search_trial *t, double load)
{
    return search_round_counts(t) && t->order.load == load;
}

bool search_void_stays(const struct search *s, double load)
{
    int excess = 0;

    for (size_t i = 0; i < s->n; i++)
        if (is_of(&s->trials[i], load))
            excess += s->trials[i].judgment.class == TRIAL_VOID ? 1 : -1;
    return excess > MOST_VOID;
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
