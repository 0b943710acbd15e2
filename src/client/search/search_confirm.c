/* SPDX-License-Identifier: MIT
 * search_confirm: see client/search/search_confirm.h. */
#include "client/search/search_confirm.h"

#include "base/units.h"
#include "client/search/search_load.h"

#include <math.h>

#define MOST_NS      (60 * UNITS_NS_PER_S)
#define PART_OF_TIME 5 /* planned: at most this part of the search */
#define LAST_PART    2 /* the last one of a search: at least this part of the others */
#define SPARE_PART                                                                                 \
    0.45 /* part of the time left: another one of the same length fits, and late answers, too */
#define FIRST_DESCENT 0.025 /* difference of the logarithms of the first two loads */

/* This many bad confirmations of a load leave it undecided, and this many in doubt. */
enum { MOST_BAD = 1, MOST_IN_DOUBT = 1 };

/* Void ones of a load are repeated until they outnumber its others by more than this: if noise of
 * this host makes 20 % of all trials void, that ends 2 % of the simulated searches of up to 20 min,
 * and 1 instead of 3 ends 8 %.  Where none is left, more than MOST_VOID_AT_END are the reason, not
 * the time. */
enum { MOST_VOID = 3, MOST_VOID_AT_END = 1 };

static bool is_bad(const struct search_trial *t)
{
    return t->order.step == SEARCH_CONFIRM && t->judgment.class == TRIAL_BAD;
}

static bool is_in_doubt(const struct search_trial *t)
{
    return is_bad(t) && t->judgment.reason == TRIAL_IN_DOUBT;
}

static uint64_t longer_ns(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static uint64_t shorter_ns(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

uint64_t search_confirm_ns(const struct search *s)
{
    return shorter_ns(s->config.time_ns / PART_OF_TIME, MOST_NS);
}

uint64_t search_confirm_least_time_ns(uint64_t rest_ns)
{
    const uint64_t part_ns = (rest_ns - 1) / (PART_OF_TIME - 1); /* fractions are rounded down */

    return rest_ns + shorter_ns(part_ns, MOST_NS);
}

static uint64_t time_left_ns(const struct search *s, uint64_t elapsed_ns)
{
    return s->config.time_ns > elapsed_ns ? s->config.time_ns - elapsed_ns : 0;
}

/* Returns for how long the longest bad confirmation was measured; 0: there was none. */
static uint64_t longest_bad_ns(const struct search *s)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < s->n; i++)
        if (is_bad(&s->trials[i]) && s->trials[i].measured_ns > ns)
            ns = s->trials[i].measured_ns;
    return ns;
}

/* Returns the least length of one that is not the last. */
static uint64_t each_ns(const struct search *s)
{
    return longer_ns(search_confirm_ns(s), longest_bad_ns(s));
}

uint64_t search_confirm_fitting_ns(const struct search *s, uint64_t elapsed_ns)
{
    const uint64_t least_ns = longer_ns(search_confirm_ns(s) / LAST_PART, longest_bad_ns(s));
    const uint64_t left_ns = time_left_ns(s, elapsed_ns + s->config.overhead_ns);
    const uint64_t spare_ns = (uint64_t)(SPARE_PART * (double)left_ns);

    if (left_ns < least_ns)
        return 0;
    return shorter_ns(left_ns, shorter_ns(MOST_NS, longer_ns(each_ns(s), spare_ns)));
}

unsigned search_confirm_left_in_full(const struct search *s, uint64_t elapsed_ns)
{
    const uint64_t n_full = time_left_ns(s, elapsed_ns) / (each_ns(s) + s->config.overhead_ns);
    const uint64_t n_trials = SEARCH_MOST_TRIALS - s->n;

    return (unsigned)(n_full < n_trials ? n_full : n_trials);
}

unsigned search_confirm_left(const struct search *s, uint64_t elapsed_ns)
{
    const unsigned n_full = search_confirm_left_in_full(s, elapsed_ns);

    if (n_full == 0 && s->n < SEARCH_MOST_TRIALS && search_confirm_fitting_ns(s, elapsed_ns) > 0)
        return 1;
    return n_full;
}

double search_confirm_capacity(const struct search_config *config, double lower, double upper)
{
    if (upper == 0 || config->whole)
        return lower;
    return fmin(sqrt(lower * upper), lower / SEARCH_CONFIRM_PART);
}

double search_confirm_first(const struct search *s, double lower, double upper)
{
    return search_load_round(&s->config, search_confirm_capacity(&s->config, lower, upper) *
                                             SEARCH_CONFIRM_PART);
}

static unsigned count(const struct search *s, double load, enum trial_class class)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->trials[i].order.step == SEARCH_CONFIRM && s->trials[i].order.load == load &&
             s->trials[i].judgment.class == class;
    return n;
}

static unsigned count_in_doubt(const struct search *s, double load)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is_in_doubt(&s->trials[i]) && s->trials[i].order.load == load;
    return n;
}

/* Counts those that missed a goal; one in doubt has no vote. */
static unsigned count_missed(const struct search *s, double load)
{
    return count(s, load, TRIAL_BAD) - count_in_doubt(s, load);
}

/* Whether n_left confirmations can still confirm a load. */
static bool is_open(const struct search *s, double load, unsigned n_left)
{
    const unsigned n_missed = count_missed(s, load), n_in_doubt = count_in_doubt(s, load);

    return n_missed + n_in_doubt == 0 || (n_missed <= MOST_BAD && n_in_doubt <= MOST_IN_DOUBT &&
                                          n_left + count(s, load, TRIAL_GOOD) > n_missed);
}

/* Whether a load has missed a goal, while there are lower ones. */
static bool is_passed_over(const struct search *s, double load, double first)
{
    return load < first && load > s->config.min && count_missed(s, load) > 0;
}

double search_confirm_load(const struct search *s, double first, unsigned n_left)
{
    double load = first, distance = FIRST_DESCENT;

    while (!is_open(s, load, n_left) || is_passed_over(s, load, first)) {
        const double below = search_load_below(&s->config, load, distance);

        if (below >= load)
            return 0;
        load = below;
        distance *= 2;
    }
    return load;
}

bool search_confirm_succeeded(const struct search *s, double load)
{
    return count(s, load, TRIAL_GOOD) > count_missed(s, load);
}

bool search_confirm_is_void(const struct search *s, double load, unsigned n_left)
{
    const unsigned n_others = count(s, load, TRIAL_GOOD) + count(s, load, TRIAL_BAD);

    return count(s, load, TRIAL_VOID) > n_others + (n_left > 0 ? MOST_VOID : MOST_VOID_AT_END);
}

bool search_confirm_failed(const struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_bad(&s->trials[i]))
            return true;
    return false;
}

bool search_confirm_missed_above(const struct search *s, double load)
{
    int n_more_missed = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_trial *t = &s->trials[i];

        if (t->order.step == SEARCH_CONFIRM && t->order.load > load &&
            t->judgment.class != TRIAL_VOID)
            n_more_missed += is_bad(t) && !is_in_doubt(t) ? 1 : -1;
    }
    return n_more_missed > 0;
}

/* Returns by how many the confirmations that missed a goal outnumber the good ones, at loads above
 * one that were not confirmed, up to another one.  Those in doubt count, too, if none was good. */
static unsigned count_refuting(const struct search *s, double above, double load)
{
    unsigned n_good = 0, n_missed = 0, n_in_doubt = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_trial *t = &s->trials[i];

        if (t->order.step != SEARCH_CONFIRM || t->order.load <= above || t->order.load > load ||
            search_confirm_succeeded(s, t->order.load))
            continue;
        n_good += t->judgment.class == TRIAL_GOOD;
        n_missed += is_bad(t) && !is_in_doubt(t);
        n_in_doubt += is_in_doubt(t);
    }
    if (n_good == 0)
        return n_missed + n_in_doubt;
    return n_missed > n_good ? n_missed - n_good : 0;
}

/* Whether a confirmation missed a goal, or more than one was in doubt: a single one leaves the load
 * open. */
static bool counts_against(const struct search *s, double load)
{
    return count_missed(s, load) > 0 || count_in_doubt(s, load) > MOST_IN_DOUBT;
}

double search_confirm_failed_above(const struct search *s, double above)
{
    double smallest = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double load = s->trials[i].order.load;

        if (is_bad(&s->trials[i]) && load > above && (smallest == 0 || load < smallest) &&
            counts_against(s, load))
            smallest = load;
    }
    return smallest;
}

double search_confirm_refuted(const struct search *s, double above, unsigned n_least)
{
    double smallest = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double load = s->trials[i].order.load;

        if (is_bad(&s->trials[i]) && (smallest == 0 || load < smallest) &&
            counts_against(s, load) && count_refuting(s, above, load) >= n_least)
            smallest = load;
    }
    return smallest;
}
