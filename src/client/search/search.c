/* SPDX-License-Identifier: MIT
 * search: see client/search/search.h. */
#include "client/search/search.h"

#include "base/units.h"
#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "client/search/search_load.h"
#include "client/search/search_narrow.h"
#include "client/search/search_round.h"
#include "client/search/search_void.h"

#include <math.h>
#include <string.h>

/* Once there are bounds to confirm, there must be time for this many confirmations: if one fails, a
 * lower load follows. */
enum { CONFIRMATIONS_OF_BOUNDS = 2 };

#define MOST_OVERLOAD_NS (5 * UNITS_NS_PER_S)
#define LEAST_RECOVER_NS UNITS_NS_PER_S /* in less time no server can show that it recovers */

/* --- the next load of a round; 0: the round is over --- */

/* Returns the logarithm of the step away from a bound without a bound beyond it: 2 while doubling,
 * then the width of the previous round, doubled each time. */
static double step(const struct search *s, double bound, double next)
{
    const double first = s->round == 0 ? log(2) : -log(1 - search_round_width(s, s->round - 1));

    return s->round == 0 || next == 0 ? first : fmax(first, 2 * fabs(log(next / bound)));
}

static double next_below(const struct search *s, double upper)
{
    if ((upper == 0 || s->start < upper) &&
        search_round_class(s, s->round, s->start) == LOAD_UNDECIDED)
        return s->start;
    if (upper <= s->config.min)
        return 0;
    return search_load_below(&s->config, upper,
                             step(s, upper, search_round_upper(s, s->round, upper)));
}

static double next_above(const struct search *s, double lower)
{
    if (s->from_upper > lower && search_round_class(s, s->round, s->from_upper) == LOAD_UNDECIDED)
        return s->from_upper;
    if (lower >= s->config.max)
        return 0;
    return search_load_above(&s->config, lower,
                             step(s, lower, search_round_lower(s, s->round, lower)));
}

static double next_between(const struct search *s, double lower, double upper)
{
    if (1 - lower / upper <= search_round_width(s, s->round) + 1e-9)
        return 0;
    return search_load_middle(&s->config, lower, upper);
}

/* Returns load or, if its trials stay void, a load below it whose trials do not; if there is none,
 * load. */
static double next_not_void(struct search *s, double lower, double load)
{
    double below = load;

    if (s->void_load > lower && load > s->void_load)
        below = s->void_load;
    do {
        load = below;
        if (load == 0 || !search_void_stays(s, load))
            return load;
        s->void_load = load;
        below = search_void_next(s, lower, load);
    } while (below > 0);
    return load;
}

static double next_load(struct search *s)
{
    double lower, upper, load;

    search_bounds_of_round(s, s->round, &lower, &upper);
    if (s->held > lower && s->held < upper && s->held >= s->config.min)
        load = s->held;
    else if (lower == 0)
        load = next_below(s, upper);
    else if (upper > 0)
        load = next_between(s, lower, upper);
    else
        load = next_above(s, lower);
    return next_not_void(s, lower, load);
}

/* --- steps --- */

static bool end(struct search *s, enum search_status status, enum search_reason reason)
{
    s->status = status;
    s->reason = reason;
    return false;
}

static bool give(struct search *s, enum search_step what, double load, uint64_t duration_ns,
                 struct search_order *order)
{
    s->order = *order = (struct search_order){what, load, duration_ns};
    s->measured_ns = duration_ns;
    return true;
}

static bool has_time(const struct search *s, uint64_t elapsed_ns, uint64_t ns)
{
    return elapsed_ns + ns + s->config.overhead_ns <= s->config.time_ns;
}

/* Ends a search whose confirmation succeeded. */
static bool end_confirmed(struct search *s)
{
    double lower, upper;

    search_bounds(s, &lower, &upper);
    return end(s, upper > 0 ? SEARCH_FOUND : SEARCH_AT_LEAST, SEARCH_NO_REASON);
}

/* Without its connections there is no overload to recover from. */
static bool has_overloaded(const struct search *s)
{
    return s->order.step == SEARCH_OVERLOAD &&
           s->trials[s->n - 1].judgment.reason != TRIAL_CONNECTIONS;
}

static uint64_t overload_ns(const struct search *s)
{
    const uint64_t part_ns = s->config.time_ns / 20;

    return part_ns < MOST_OVERLOAD_NS ? part_ns : MOST_OVERLOAD_NS;
}

/* Tries the overload, then the recovery from it, if there are time and trials for both. */
static bool next_recovery(struct search *s, uint64_t elapsed_ns, struct search_order *order)
{
    const uint64_t time_ns = s->config.time_ns, over_ns = overload_ns(s);
    const uint64_t begin_ns = elapsed_ns + s->config.overhead_ns;
    const uint64_t left_ns = time_ns > begin_ns ? time_ns - begin_ns : 0;
    double lower, upper;

    search_bounds(s, &lower, &upper);
    if (has_overloaded(s) && left_ns >= LEAST_RECOVER_NS)
        return give(s, SEARCH_RECOVER, search_load_round(&s->config, lower * SEARCH_RECOVER_PART),
                    left_ns < SEARCH_RECOVER_NS ? left_ns : SEARCH_RECOVER_NS, order);
    if (s->config.tries_recovery && upper > 0 && s->order.step == SEARCH_CONFIRM &&
        s->n + 1 < SEARCH_MOST_TRIALS && has_time(s, elapsed_ns, 2 * over_ns))
        return give(s, SEARCH_OVERLOAD, search_load_round(&s->config, lower * SEARCH_OVERLOAD_PART),
                    over_ns, order);
    return end_confirmed(s);
}

/* Returns the time to expect between two trials. */
static uint64_t between_ns(const struct search *s)
{
    return s->between_ns > s->config.overhead_ns ? s->between_ns : s->config.overhead_ns;
}

/* Returns the time that further confirmations leave for the overload and the recovery. */
static uint64_t kept_ns(const struct search *s)
{
    return s->config.tries_recovery ? overload_ns(s) + SEARCH_RECOVER_NS + 2 * s->config.overhead_ns
                                    : 0;
}

/* Returns the load of the next confirmation that narrows the bounds; 0: they are narrow, or notes
 * why they stay as they are. */
static double next_narrower(struct search *s, unsigned n_left)
{
    const double load = search_narrow_load(s);

    if (load > 0 && search_confirm_is_void(s, load, n_left)) {
        s->cut_by = SEARCH_VOID;
        s->void_load = load;
    } else if (load == 0 || n_left == 0) {
        s->cut_by = load == 0 ? SEARCH_NO_REASON : SEARCH_TIME;
    } else {
        return load;
    }
    return 0;
}

/* Narrows the bounds of a confirmed answer while there is time, before the recovery. */
static bool next_after_confirmed(struct search *s, uint64_t elapsed_ns, struct search_order *order)
{
    const uint64_t longer_ns = between_ns(s) - s->config.overhead_ns;
    const uint64_t until_ns = elapsed_ns + longer_ns + kept_ns(s);
    double load = 0;

    if (s->order.step == SEARCH_CONFIRM && s->descended_to > 0)
        load = next_narrower(s, search_confirm_left_in_full(s, until_ns));
    if (load > 0)
        return give(s, SEARCH_CONFIRM, load, search_confirm_fitting_ns(s, until_ns), order);
    return next_recovery(s, elapsed_ns, order);
}

static bool next_confirmation(struct search *s, uint64_t elapsed_ns, struct search_order *order)
{
    const unsigned n_left = search_confirm_left(s, elapsed_ns);
    double lower, upper, load;

    search_bounds_to_confirm(s, &lower, &upper);
    if (lower == 0)
        return end(s, SEARCH_LESS_THAN, SEARCH_NO_REASON);
    if (s->confirmed)
        return next_after_confirmed(s, elapsed_ns, order);
    load = search_confirm_load(s, search_confirm_first(s, lower, upper), n_left);
    if (search_confirm_is_void(s, load, n_left)) {
        s->void_load = load;
        return end(s, SEARCH_INCONCLUSIVE, SEARCH_VOID);
    }
    if (load > 0 && n_left > 0)
        return give(s, SEARCH_CONFIRM, load, search_confirm_fitting_ns(s, elapsed_ns), order);
    return end(s, SEARCH_INCONCLUSIVE,
               search_confirm_failed(s)     ? SEARCH_UNCONFIRMED
               : s->n == SEARCH_MOST_TRIALS ? SEARCH_TOO_MANY
                                            : SEARCH_TIME);
}

/* Whether there are bounds to confirm, though the last round is not over: all others have narrowed
 * them.  The end of the range needs no upper one.  With a round less, noise in 70 % of the trials
 * makes a third of the simulated answers wrong instead of a seventh. */
static bool has_bounds(const struct search *s)
{
    double lower, upper;

    search_bounds_to_confirm(s, &lower, &upper);
    return s->round == SEARCH_ROUNDS - 1 && lower > 0 && (upper > 0 || lower >= s->config.max);
}

/* Returns the time to keep for the next trial of a round and for the confirmation: once there are
 * bounds to confirm, for two, between which as much time passes as between trials of this round. */
static uint64_t needed_ns(const struct search *s, uint64_t trial_ns, bool has_answer)
{
    const uint64_t confirm_ns = search_confirm_ns(s);

    return has_answer
               ? trial_ns + between_ns(s) + CONFIRMATIONS_OF_BOUNDS * (confirm_ns + between_ns(s))
               : trial_ns + confirm_ns + 2 * s->config.overhead_ns;
}

/* Gives the next trial of a round if there is time for that and for the confirmation. */
static bool next_bound(struct search *s, double load, uint64_t elapsed_ns,
                       struct search_order *order)
{
    const uint64_t ns = search_round_trial_ns(s, s->round, load);
    const bool has_answer = has_bounds(s);
    const bool fits = elapsed_ns + needed_ns(s, ns, has_answer) <= s->config.time_ns;

    if (search_void_stays(s, load) && !(fits && search_void_may_pass(s, load)))
        return end(s, SEARCH_INCONCLUSIVE, SEARCH_VOID);
    if (s->n == SEARCH_MOST_TRIALS)
        return end(s, SEARCH_INCONCLUSIVE, SEARCH_TOO_MANY);
    if (fits)
        return give(s, s->round == 0 ? SEARCH_DOUBLE : SEARCH_BISECT, load, ns, order);
    if (!has_answer)
        return end(s, SEARCH_INCONCLUSIVE, SEARCH_TIME);
    s->cut_by = SEARCH_TIME;
    s->round = SEARCH_ROUNDS;
    return next_confirmation(s, elapsed_ns, order);
}

/* --- interface --- */

void search_init(struct search *s, const struct search_config *config)
{
    memset(s, 0, sizeof *s); /* clang puts a compound literal of 24 kB on the stack */
    s->config = *config;
    s->start = search_load_round(config, config->max / 100);
}

uint64_t search_least_time_ns(const struct search_config *config, struct search_order *first)
{
    struct search s;

    search_init(&s, config);
    s.config.time_ns = UINT64_MAX;
    search_next(&s, 0, first);
    return search_confirm_least_time_ns(first->duration_ns + 2 * config->overhead_ns);
}

/* Notes how much time passed since the last trial began in addition to its measurement. */
static void note_between(struct search *s, uint64_t elapsed_ns)
{
    const uint64_t over_ns = s->given_ns + s->measured_ns;

    if (s->n > 0 && elapsed_ns > over_ns + s->between_ns)
        s->between_ns = elapsed_ns - over_ns;
    s->given_ns = elapsed_ns;
}

bool search_next(struct search *s, uint64_t elapsed_ns, struct search_order *order)
{
    double load;

    if (s->status != SEARCH_RUNNING)
        return false;
    note_between(s, elapsed_ns);
    while (s->round < SEARCH_ROUNDS) {
        load = next_load(s);
        if (load > 0)
            return next_bound(s, load, elapsed_ns, order);
        search_bounds_of_round(s, s->round++, &s->from_lower, &s->from_upper);
        s->start = s->from_lower > 0 ? s->from_lower : s->config.min;
        s->between_ns = 0;
    }
    return next_confirmation(s, elapsed_ns, order);
}

void search_held(struct search *s, double load)
{
    s->held = load;
}

void search_ended_early(struct search *s, uint64_t measured_ns)
{
    s->measured_ns = measured_ns;
}

void search_take(struct search *s, struct trial_judgment judgment)
{
    double lower, upper;

    s->trials[s->n++] = (struct search_trial){s->order, judgment, s->measured_ns};
    if (s->order.step != SEARCH_CONFIRM || !search_confirm_succeeded(s, s->order.load))
        return;
    s->confirmed = true;
    s->n_confirmed = s->n;
    search_bounds_to_confirm(s, &lower, &upper);
    s->descended_to = s->order.load < search_confirm_first(s, lower, upper) ? s->order.load : 0;
}

void search_take_recovery(struct search *s, uint64_t recovery_ns)
{
    s->recovery_known = true;
    s->recovery_ns = recovery_ns;
}

void search_stop(struct search *s, enum search_reason reason)
{
    if (s->status == SEARCH_RUNNING && s->confirmed) {
        if (s->cut_by == SEARCH_NO_REASON && search_narrow_load(s) > 0)
            s->cut_by = reason;
        end_confirmed(s);
    } else if (s->status == SEARCH_RUNNING)
        end(s, SEARCH_INCONCLUSIVE, reason);
}

void search_lose_server(struct search *s, size_t first)
{
    search_stop(s, SEARCH_SERVER_GONE);
    for (size_t i = first; i < s->n; i++)
        if (!s->confirmed || i >= s->n_confirmed)
            s->trials[i].judgment = (struct trial_judgment){TRIAL_VOID, TRIAL_CONNECTIONS, 0};
    if (s->confirmed)
        s->cut_by = SEARCH_SERVER_GONE;
    else
        end(s, SEARCH_INCONCLUSIVE, SEARCH_SERVER_GONE);
}
