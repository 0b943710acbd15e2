/* SPDX-License-Identifier: MIT
 * search_state: what a search is told, and what it knows. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_STATE_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_STATE_H

#include "client/search/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_MOST_TRIALS 512u
#define SEARCH_NEVER       UINT64_MAX

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
    SEARCH_CONFIRM,  /* a long trial below the lower bound of the others */
    SEARCH_OVERLOAD, /* above the lower bound; not judged, not drained */
    SEARCH_RECOVER,  /* time until the service level is met again, at most duration_ns */
    SEARCH_N_STEPS
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
    SEARCH_INCONCLUSIVE,
    SEARCH_N_STATUSES
};

/* Why a search is inconclusive, or ended early with an answer. */
enum search_reason {
    SEARCH_NO_REASON,
    SEARCH_VOID,        /* many more trials of a load were void than not */
    SEARCH_TIME,        /* not enough left for another trial */
    SEARCH_UNCONFIRMED, /* no confirmation succeeded */
    SEARCH_TOO_MANY,    /* SEARCH_MOST_TRIALS */
    SEARCH_STOPPED,     /* on request */
    SEARCH_UNCONNECTED, /* no connection became usable */
    SEARCH_SERVER_GONE, /* no more answers came */
    SEARCH_N_REASONS
};

struct search_trial {
    struct search_order order;
    struct trial_judgment judgment;
    /* As ordered, or until it could no longer be good; 0: it did not begin. */
    uint64_t measured_ns;
};

struct search {
    struct search_config config;
    enum search_status status;
    enum search_reason reason;
    unsigned round;
    double from_lower, from_upper; /* bounds of the previous round; 0: none */
    double start;                  /* first load of the round */
    double held;                   /* load that a bad trial had instead of its own; 0: none */
    double void_load;              /* the last load whose trials stayed void; 0: none */
    double descended_to;           /* confirmed after higher loads had failed; 0: none */
    size_t n_confirmed;            /* trials when a load was confirmed last */
    struct search_order order;     /* last order */
    uint64_t given_ns;             /* after how much of the search */
    uint64_t measured_ns;          /* of its trial */
    uint64_t between_ns; /* the longest between two trials of the round, or confirmations */
    size_t n;
    struct search_trial trials[SEARCH_MOST_TRIALS];
    bool confirmed, recovery_known;
    /* Why a search with an answer ended before its bounds were close enough or, if it ran out of
     * time, had all votes; SEARCH_SERVER_GONE also after that. */
    enum search_reason cut_by;
    uint64_t recovery_ns; /* if known; SEARCH_NEVER: more than SEARCH_RECOVER_NS */
};

#endif
