/* SPDX-License-Identifier: MIT
 * trial: whether a trial of a search was good, bad or void.  Pure.
 *
 * A trial is void if this host, not the server, decided its result: because it fell behind the
 * schedule, or because its own delays may account for enough of the slow queries.  A void trial
 * proves nothing. */
#ifndef TCPSCALER_CLIENT_SEARCH_TRIAL_H
#define TCPSCALER_CLIENT_SEARCH_TRIAL_H

#include "client/search/slo.h"

enum trial_class { TRIAL_GOOD, TRIAL_BAD, TRIAL_VOID, TRIAL_N_CLASSES };

enum trial_reason {
    TRIAL_NO_REASON,         /* good */
    TRIAL_GOAL,              /* bad: a goal was missed */
    TRIAL_QUEUE,             /* bad: the queries in flight kept growing */
    TRIAL_IN_DOUBT,          /* bad: a confirmation met a goal, but perhaps by chance */
    TRIAL_CONNECTIONS,       /* bad or void: not all connections could be opened */
    TRIAL_NOT_OPENED,        /* void: this host could not open connections, which decided */
    TRIAL_GENERATOR_LIMITED, /* void, like all that follow: queries were sent or read late */
    TRIAL_HOST_NOISE,        /* the goals might have been met without this host's own delays */
    TRIAL_NOTHING_MEASURED   /* no query was due */
};

/* A delay of this host counts towards a goal if it is at least this part of the goal's limit, and
 * as behind if it is at least this part of the trial's planned length. */
#define TRIAL_OWN_PART    10u
#define TRIAL_BEHIND_PART 100u

/* Counts of a trial. */
struct trial_figures {
    uint64_t n_due;
    struct trial_exceeding {
        uint64_t n;  /* exceeded the limit of the goal ... */
        uint64_t of; /* ... out of these */
        /* queries that this host delayed by TRIAL_OWN_PART of the limit or more, or opened no
         * connection for */
        uint64_t own;
        /* exceeded a higher limit, and are not those that this host delayed by TRIAL_OWN_PART of
         * it or more: the most of them for any such limit */
        uint64_t far;
        /* half the width of the 90 % confidence interval of n / of; 0: unknown */
        double error;
    } goals[SLO_MOST];
    uint64_t n_behind;     /* queries that this host delayed by TRIAL_BEHIND_PART or more */
    uint64_t n_not_opened; /* connections that this host could not open */
    bool grew;             /* the number of queries in flight kept growing */
};

struct trial_judgment {
    enum trial_class class;
    enum trial_reason reason;
    /* TRIAL_GOAL, TRIAL_HOST_NOISE: the goal missed by the widest margin; TRIAL_IN_DOUBT: the first
     * one in doubt */
    unsigned goal;
};

/* Whether a goal was missed even without the queries that this host delayed or lost. */
bool trial_misses_goal(const struct slo *slo, const struct trial_figures *f, unsigned goal);

/* Never returns TRIAL_IN_DOUBT or TRIAL_CONNECTIONS: without connections there is no trial. */
struct trial_judgment trial_judge(const struct slo *slo, const struct trial_figures *f);

/* Likewise, of a trial that has to prove its load: also bad if the confidence interval of a share
 * reaches beyond what its goal allows.  In that case, more than one in 20 of the loads that
 * miss the goal would look as good as this by chance. */
struct trial_judgment trial_judge_proof(const struct slo *slo, const struct trial_figures *f);

/* Returns the most queries that a trial may have if its random (Poisson) arrivals are this many on
 * average. */
uint64_t trial_most_queries(double mean);

/* Whether a trial in progress will be bad even if all queries not yet in these counts meet every
 * goal. n_all: the most queries that the whole trial may have, > 0. */
bool trial_is_lost(const struct slo *slo, const struct trial_figures *f, uint64_t n_all);

/* Whether a trial in progress is void so far, and cannot become good even if this host sends all
 * other queries in time and they meet every goal.  False if only this host's own delays are the
 * reason: the server may still miss a goal by itself. n_all: as above. */
bool trial_is_void(const struct slo *slo, const struct trial_figures *f, uint64_t n_all);

/* "good", "bad", "void" */
const char *trial_class_name(enum trial_class class);

/* The text of the goal, or the reason: "queue", "in-doubt".  NULL for a good trial. */
const char *trial_reason_name(const struct slo *slo, enum trial_reason reason, unsigned goal);

#endif
