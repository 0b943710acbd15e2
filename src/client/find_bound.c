/* SPDX-License-Identifier: MIT
 * client_find_bound: see client/find_bound.h. */
#include "client/find_bound.h"

#include "client/search/search_binding.h"
#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"

/* Returns the smallest load above another one with a bad trial; 0: none. */
static double smallest_bad(const struct search *s, double above)
{
    double smallest = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double load = s->trials[i].order.load;

        if (s->trials[i].judgment.class == TRIAL_BAD && load > above &&
            (smallest == 0 || load < smallest))
            smallest = load;
    }
    return smallest;
}

/* Returns the load of the last confirmation that was bad; 0: none.  A void one, which decides
 * nothing, may have followed. */
static double last_failed(const struct search *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (s->trials[i].order.step == SEARCH_CONFIRM && s->trials[i].judgment.class == TRIAL_BAD)
            return s->trials[i].order.load;
    return 0;
}

/* The load at which the search ended, or whose confirmation failed last.  Without an upper bound,
 * the smallest load above the lower bound that had a bad trial: those below were outvoted. */
double client_find_deciding_load(const struct client_find *f)
{
    const struct search *s = &f->search;
    double lower, upper, refuted;

    search_bounds(s, &lower, &upper);
    refuted = s->descended_to > 0 ? search_confirm_refuted(s, s->descended_to, 1) : 0;
    if (refuted > 0)
        return refuted;
    if (s->reason == SEARCH_VOID)
        return s->void_load;
    if (s->reason == SEARCH_UNCONFIRMED)
        return last_failed(s);
    if (s->reason == SEARCH_UNCONNECTED || s->reason == SEARCH_SERVER_GONE) /* of no load */
        return 0;
    return upper == 0 && s->status == SEARCH_INCONCLUSIVE ? smallest_bad(s, lower) : upper;
}

static bool decides(const struct client_find *f, size_t i, double load)
{
    const struct search_trial *t = &f->search.trials[i];
    const enum trial_class class = f->search.reason == SEARCH_VOID ? TRIAL_VOID : TRIAL_BAD;

    return t->order.load == load && t->order.step != SEARCH_OVERLOAD && t->judgment.class == class;
}

/* Whether a trial was bad even without the queries for which this host opened no connection. */
static bool is_bad_regardless(const struct trial_judgment *j)
{
    return j->class == TRIAL_BAD && (j->reason == TRIAL_GOAL || j->reason == TRIAL_QUEUE);
}

/* Returns how many values beyond its limit the goal that was missed allows; 0: none was missed. */
static uint64_t n_allowed(const struct client_find *f, size_t i)
{
    const struct trial_judgment *j = &f->search.trials[i].judgment;

    if (j->reason != TRIAL_GOAL && j->reason != TRIAL_IN_DOUBT)
        return 0;
    return (uint64_t)((double)f->settings->slo.goals[j->goal].share_ppm / 1e6 *
                      (double)f->trials[i].figures.goals[j->goal].of);
}

static void add_up(const struct client_find *f, struct client_find_evidence *e)
{
    const double load = client_find_deciding_load(f);

    *e = (struct client_find_evidence){0};
    for (size_t i = 0; i < f->search.n; i++) {
        const struct client_find_trial *t = &f->trials[i];

        if (!decides(f, i, load))
            continue;
        e->n_trials++;
        e->n_allowed += n_allowed(f, i);
        e->syn_retransmits += t->syn_retransmits;
        e->n_not_begun += t->n_not_begun;
        if (!is_bad_regardless(&f->search.trials[i].judgment)) {
            e->n_not_opened += t->figures.n_not_opened;
            e->n_without_port += t->n_without_port;
        }
        if (t->overflows != HOST_COUNTERS_UNKNOWN)
            e->overflows += t->overflows;
    }
}

bool client_find_handshakes(const struct client_find *f, uint64_t *full, uint64_t *resumed)
{
    double lower, upper;

    *full = *resumed = 0;
    search_bounds(&f->search, &lower, &upper);
    for (size_t i = 0; i < f->search.n; i++) {
        const struct search_trial *t = &f->search.trials[i];
        const struct client_find_trial *seen = &f->trials[i];

        if (t->order.load != lower || t->judgment.class != TRIAL_GOOD ||
            seen->handshakes == UINT64_MAX)
            continue;
        *full += seen->handshakes - seen->resumed;
        *resumed += seen->resumed;
    }
    return *full + *resumed > 0;
}

bool client_find_lacks_connections(const struct client_find *f)
{
    const struct search *s = &f->search;
    const struct trial_judgment *binding;

    if (s->reason != SEARCH_VOID)
        return false;
    binding = search_binding(s, s->void_load, TRIAL_VOID);
    return binding != NULL && binding->reason == TRIAL_CONNECTIONS;
}

/* Whether this host could not keep up with the trials at the end. */
static bool is_limited_here(const struct client_find *f)
{
    return f->search.reason == SEARCH_VOID && !client_find_lacks_connections(f);
}

static enum client_find_limit why_not_here(const struct client_find_evidence *e)
{
    return e->n_not_begun > 0 ? CLIENT_FIND_BY_IN_PROGRESS : CLIENT_FIND_BY_CLIENT;
}

static enum client_find_limit why_not_opened(const struct client_find_evidence *e)
{
    return e->n_without_port >= e->n_not_opened - e->n_without_port ? CLIENT_FIND_BY_PORTS
                                                                    : CLIENT_FIND_BY_OPENING;
}

enum client_find_limit client_find_bound(const struct client_find *f,
                                         struct client_find_evidence *e)
{
    add_up(f, e);
    if (e->n_trials == 0)
        return CLIENT_FIND_UNLIMITED;
    return e->n_not_opened > 0                 ? why_not_opened(e)
           : is_limited_here(f)                ? why_not_here(e)
           : e->overflows > e->n_allowed       ? CLIENT_FIND_BY_ACCEPTS
           : e->syn_retransmits > e->n_allowed ? CLIENT_FIND_BY_LOST_SYNS
                                               : CLIENT_FIND_BY_SERVER;
}

const char *client_find_bound_name(const struct client_find *f)
{
    static const char *const names[] = {NULL,     "ports",        "not-opened", "max-connections",
                                        "client", "accept-queue", "syns-lost",  "server"};
    struct client_find_evidence e;

    _Static_assert(sizeof names / sizeof *names == CLIENT_FIND_BY_SERVER + 1, "one for each");
    return names[client_find_bound(f, &e)];
}
