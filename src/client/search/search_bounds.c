/* SPDX-License-Identifier: MIT
 * search_bounds: see client/search/search_bounds.h. */
#include "client/search/search_bounds.h"

#include "client/search/search_confirm.h"
#include "client/search/search_load.h"
#include "client/search/search_round.h"

#include <math.h>

/* This many more bad long trials than good ones outvote the shorter trials of an answer: with 3,
 * noise in 10 % of the trials made one of 700 simulated answers wrong.  Without an answer a single
 * one is enough. */
enum { REFUTING = 4 };

void search_bounds_of_round(const struct search *s, unsigned round, double *lower, double *upper)
{
    *upper = search_round_upper(s, round, 0);
    *lower = search_round_lower(s, round, *upper > 0 ? *upper : INFINITY);
}

static unsigned last_round(const struct search *s)
{
    return s->round < SEARCH_ROUNDS ? s->round : SEARCH_ROUNDS - 1;
}

/* Returns the largest lower bound below a load, of this round or of the last one that has any. */
static double lower_below(const struct search *s, double below)
{
    double lower = 0;

    for (unsigned round = last_round(s) + 1; lower == 0 && round-- > 0;)
        lower = search_round_lower(s, round, below);
    return lower;
}

/* Returns the smallest upper bound above a load, likewise. */
static double upper_above(const struct search *s, double above)
{
    double upper = 0;

    for (unsigned round = last_round(s) + 1; upper == 0 && round-- > 0;)
        upper = search_round_upper(s, round, above);
    return upper;
}

void search_bounds_to_confirm(const struct search *s, double *lower, double *upper)
{
    search_bounds_of_round(s, last_round(s), lower, upper);
    if (*upper == 0)
        *upper = upper_above(s, *lower);
    if (*lower == 0)
        *lower = lower_below(s, *upper > 0 ? *upper : INFINITY);
}

void search_bounds(const struct search *s, double *lower, double *upper)
{
    double refuted;

    search_bounds_to_confirm(s, lower, upper);
    refuted = search_confirm_refuted(s, s->descended_to, s->confirmed && *upper > 0 ? REFUTING : 1);
    if (refuted > 0 && (*upper == 0 || refuted < *upper))
        *upper = refuted;
    if (s->descended_to > 0)
        *lower = s->descended_to;
    else if (*upper > 0 && *lower >= *upper)
        *lower = lower_below(s, *upper);
}

double search_capacity(const struct search *s)
{
    double lower, upper;

    if (s->status != SEARCH_FOUND && s->status != SEARCH_AT_LEAST)
        return 0;
    search_bounds(s, &lower, &upper);
    return s->descended_to > 0 && search_confirm_missed_above(s, s->descended_to)
               ? lower
               : search_load_round(&s->config, search_confirm_capacity(&s->config, lower, upper));
}
