/* SPDX-License-Identifier: MIT
 * search_round: see client/search/search_round.h. */
#include "client/search/search_round.h"

#include "base/units.h"

#include <math.h>

#define FULL_NS       (2 * UNITS_NS_PER_S) /* minimum length of a full-length trial, ... */
#define SHORT_PART    2                    /* ... divided by this for a short one */
#define LIMITS_PART   10   /* both last at least this many times the longest limit */
#define MOST_NS       1e18 /* beyond any time of a search, and far from overflow */
#define SHORT_QUERIES 10   /* a short one needs a tenth of the queries */

static const struct {
    double width;       /* maximum; the width of the search if that is larger */
    unsigned n_trials;  /* full-length trials that decide a load, ... */
    unsigned n_if_good; /* ... or this many if all are good: a single bad one is not trusted */
    bool is_short;
} rounds[] = {{0.5, 5, 1, true}, {0.2, 5, 1, true}, {0.05, 3, 3, false}, {0, 11, 11, false}};

_Static_assert(sizeof rounds / sizeof *rounds == SEARCH_ROUNDS, "one row per round");

double search_round_width(const struct search *s, unsigned round)
{
    return fmax(rounds[round].width, s->config.width);
}

uint64_t search_round_trial_ns(const struct search *s, unsigned round, double load)
{
    const struct search_config *c = &s->config;
    const bool is_short = rounds[round].is_short;
    const double per_s = c->queries_per_s > 0 ? c->queries_per_s : load;
    const double queries = (double)c->queries / (is_short ? SHORT_QUERIES : 1);
    const uint64_t least_ns = is_short ? FULL_NS / SHORT_PART : FULL_NS;
    const double by_queries_ns = queries / per_s * (double)UNITS_NS_PER_S;
    const double ns =
        fmax((double)(c->limit_ns * LIMITS_PART), fmax(by_queries_ns, (double)least_ns));

    return (uint64_t)fmin(ns, MOST_NS);
}

bool search_round_counts(const struct search_trial *t)
{
    return t->order.step == SEARCH_DOUBLE || t->order.step == SEARCH_BISECT;
}

enum load_class search_round_class(const struct search *s, unsigned round, double load)
{
    const uint64_t full_ns = search_round_trial_ns(s, round, load);
    struct load_sums sums = {0};
    unsigned n_trials;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_trial *t = &s->trials[i];
        const double duration_s = (double)t->order.duration_ns / (double)UNITS_NS_PER_S;
        const bool is_full = t->order.duration_ns >= full_ns;

        if (t->order.load != load || !search_round_counts(t))
            continue;
        if (t->judgment.class == TRIAL_GOOD)
            *(is_full ? &sums.full_good_s : &sums.short_good_s) += duration_s;
        else if (t->judgment.class == TRIAL_BAD)
            *(is_full ? &sums.full_bad_s : &sums.short_bad_s) += duration_s;
    }
    n_trials = sums.full_bad_s > 0 ? rounds[round].n_trials : rounds[round].n_if_good;
    return load_classify(&sums, n_trials * (double)full_ns / (double)UNITS_NS_PER_S);
}

double search_round_upper(const struct search *s, unsigned round, double above)
{
    double smallest = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double load = s->trials[i].order.load;

        if (search_round_counts(&s->trials[i]) && load > above &&
            (smallest == 0 || load < smallest) &&
            search_round_class(s, round, load) == LOAD_UPPER_BOUND)
            smallest = load;
    }
    return smallest;
}

double search_round_lower(const struct search *s, unsigned round, double below)
{
    double largest = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double load = s->trials[i].order.load;

        if (search_round_counts(&s->trials[i]) && load < below && load > largest &&
            search_round_class(s, round, load) == LOAD_LOWER_BOUND)
            largest = load;
    }
    return largest;
}
