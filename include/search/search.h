/* SPDX-License-Identifier: MIT
 * search: which trial comes next, and what all of them say: the highest load that a server sustains
 * within a service level.  Pure: it makes no trial itself and reads no clock.
 *
 *   while (search_next(&s, elapsed_ns, &order))
 *       make the trial; search_take(&s, &judgment) or, of SEARCH_RECOVER, search_take_recovery()
 *
 * Follows draft-ietf-bmwg-mlrsearch-15: the answer is the largest load that is a lower bound and
 * lies below every load that is an upper bound (its relevant lower bound), so that a lucky trial at
 * a high load does not count.  Both bounds narrow in rounds, each with more or longer trials of a
 * load than the one before: doubling until a trial is bad, then bisection of the logarithm of the
 * load.  Each round starts with its smaller load, because an overload can leave traces in the
 * server.  The lower bound is then confirmed by a long trial a little below it; finally an overload
 * shows how long the server takes to recover. */
#ifndef TCPSCALER_SEARCH_SEARCH_H
#define TCPSCALER_SEARCH_SEARCH_H

#include "search/load.h"
#include "search/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_MOST_TRIALS 512u
#define SEARCH_NEVER       UINT64_MAX

/* Of the lower bound: the load of the confirmation, of the overload, and of the recovery. */
#define SEARCH_CONFIRM_PART  0.95
#define SEARCH_OVERLOAD_PART 1.5
#define SEARCH_RECOVER_PART  0.9

struct search_config {
    double min, max;      /* loads, 0 < min < max; no other is tried */
    bool whole;           /* loads are whole numbers */
    double width;         /* of the answer: (upper - lower) / upper; 0.001 to 0.5 */
    uint64_t time_ns;     /* the search may take so long, confirmation and recovery included */
    double queries_per_s; /* of every trial; 0: the load itself */
    uint64_t queries;     /* that a full-length trial needs */
    uint64_t limit_ns;    /* the longest limit of the service level; 0: none */
    uint64_t overhead_ns; /* between two trials, about */
    bool tries_recovery;
};

enum search_step {
    SEARCH_DOUBLE,   /* looks for the first bad load */
    SEARCH_BISECT,   /* narrows the bounds */
    SEARCH_CONFIRM,  /* a long trial below the lower bound */
    SEARCH_OVERLOAD, /* above it; its class does not matter, and it is not drained */
    SEARCH_RECOVER,  /* how long until the service level holds again, at most duration_ns */
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
    SEARCH_VOID,        /* far more trials of a load were void than not */
    SEARCH_TIME,        /* the time is up, or does not suffice */
    SEARCH_UNCONFIRMED, /* the confirmation failed */
    SEARCH_TOO_MANY,    /* SEARCH_MOST_TRIALS */
    SEARCH_STOPPED      /* by request */
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
    double from_lower, from_upper; /* the bounds of the round before; 0: none */
    double start;                  /* the first load of the round */
    struct search_order order;     /* the last one */
    size_t n;
    struct search_trial trials[SEARCH_MOST_TRIALS];
    bool confirmed, recovery_known;
    uint64_t recovery_ns; /* if known; SEARCH_NEVER: not within the time given */
};

void search_init(struct search *s, const struct search_config *config);

/* The next trial, when the search has lasted for elapsed_ns.  Returns false when it is over:
 * s->status is no longer SEARCH_RUNNING. */
bool search_next(struct search *s, uint64_t elapsed_ns, struct search_order *order);

/* The outcome of the last order. */
void search_take(struct search *s, struct trial_judgment judgment);
void search_take_recovery(struct search *s, uint64_t recovery_ns);

/* Ends a search that is running as inconclusive: what is known stays known. */
void search_stop(struct search *s, enum search_reason reason);

/* The relevant lower bound and the smallest upper bound, by this round or, where it has none yet,
 * by the one before; 0: none. */
void search_bounds(const struct search *s, double *lower, double *upper);

/* The judgment of most of the bad trials of a load; NULL: it has none. */
const struct trial_judgment *search_binding(const struct search *s, double load);

#endif
