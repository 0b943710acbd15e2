/* SPDX-License-Identifier: MIT
 * search: searches for the highest load that a server sustains within a service level: which trial
 * comes next, and what the trials show.  Pure: runs no trial itself and reads no clock.
 *
 *   while (search_next(&s, elapsed_ns, &order))
 *       run the trial; search_take(&s, &judgment) or, for SEARCH_RECOVER, search_take_recovery()
 *
 * Follows draft-ietf-bmwg-mlrsearch-15: the result is the largest load that is a lower bound and
 * lies below every load that is an upper bound (the relevant lower bound), so a lucky trial at a
 * high load does not count.  The bounds narrow in rounds, each with more or longer trials per load
 * than the previous one: doubling until a trial is bad, then bisection of the logarithm of the
 * load.  Each round starts with its lower load, because an overload can have an aftereffect on the
 * server.  A long trial slightly below it then confirms the lower bound; finally an overload shows
 * how long the server takes to recover. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_H

#include "client/search/load.h"
#include "client/search/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_MOST_TRIALS 512u
#define SEARCH_NEVER       UINT64_MAX

/* Relative to the lower bound: the loads of confirmation, overload and recovery. */
#define SEARCH_CONFIRM_PART  0.95
#define SEARCH_OVERLOAD_PART 1.5
#define SEARCH_RECOVER_PART  0.9

struct search_config {
    double min, max;      /* loads, 0 < min < max; no other is tried */
    bool whole;           /* loads are integers */
    double width;         /* of the result: (upper - lower) / upper; 0.001 to 0.5 */
    uint64_t time_ns;     /* maximum duration, including confirmation and recovery */
    double queries_per_s; /* of every trial; 0: equal to the load */
    uint64_t queries;     /* required by a full-length trial */
    uint64_t limit_ns;    /* the longest limit of the service level; 0: none */
    uint64_t overhead_ns; /* approximate time between two trials */
    bool tries_recovery;
};

enum search_step {
    SEARCH_DOUBLE,   /* searches for the first bad load */
    SEARCH_BISECT,   /* narrows the bounds */
    SEARCH_CONFIRM,  /* a long trial below the lower bound */
    SEARCH_OVERLOAD, /* above the lower bound; not judged, not drained */
    SEARCH_RECOVER,  /* time until the service level is met again, at most duration_ns */
};

struct search_order {
    enum search_step step;
    double load;
    uint64_t duration_ns;
};

enum search_status {
    SEARCH_RUNNING,
    SEARCH_FOUND,
    SEARCH_AT_LEAST,  /* no load of the range is an upper bound */
    SEARCH_LESS_THAN, /* none is a lower bound */
    SEARCH_INCONCLUSIVE
};

/* Why a search is inconclusive. */
enum search_reason {
    SEARCH_NO_REASON,
    SEARCH_VOID,        /* many more trials of a load were void than not */
    SEARCH_TIME,        /* out of time */
    SEARCH_UNCONFIRMED, /* the confirmation failed */
    SEARCH_TOO_MANY,    /* SEARCH_MOST_TRIALS */
    SEARCH_STOPPED      /* on request */
};

struct search_trial {
    struct search_order order;
    struct trial_judgment judgment;
};

struct search {
    struct search_config config;
    enum search_status status;
    enum search_reason reason;
    unsigned round;
    double from_lower, from_upper; /* bounds of the previous round; 0: none */
    double start;                  /* first load of the round */
    double held;                   /* load that a bad trial had instead of its own; 0: none */
    struct search_order order;     /* last order */
    size_t n;
    struct search_trial trials[SEARCH_MOST_TRIALS];
    bool confirmed, recovery_known;
    uint64_t recovery_ns; /* if known; SEARCH_NEVER: longer than the time given */
};

void search_init(struct search *s, const struct search_config *config);

/* Returns the next trial in *order, after elapsed_ns of the search.  Returns false when the search
 * is over: s->status is no longer SEARCH_RUNNING. */
bool search_next(struct search *s, uint64_t elapsed_ns, struct search_order *order);

/* The last order could not be carried out: only this load was reached, which is therefore the next
 * to try if it lies between the bounds.  Call it before search_take(). */
void search_held(struct search *s, double load);

/* Takes the outcome of the last order. */
void search_take(struct search *s, struct trial_judgment judgment);
void search_take_recovery(struct search *s, uint64_t recovery_ns);

/* Ends a running search, keeping what is known: inconclusive, unless its answer is confirmed. */
void search_stop(struct search *s, enum search_reason reason);

/* Returns the relevant lower bound and the smallest upper bound, of this round or, while it has
 * none, of earlier ones; 0: none. */
void search_bounds(const struct search *s, double *lower, double *upper);

/* Returns the judgment shared by most bad trials of a load; NULL: no bad trials. */
const struct trial_judgment *search_binding(const struct search *s, double load);

#endif
