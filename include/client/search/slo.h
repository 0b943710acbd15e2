/* SPDX-License-Identifier: MIT
 * slo: parses a service level such as "p99<10ms,lost<0.1%" and checks whether counts meet it.
 * Pure.
 *
 * Percentiles are not estimated: "p99<10ms" means that at most 1 % of the queries are slower than
 * 10 ms or unanswered, which is decided by counting them. */
#ifndef TCPSCALER_CLIENT_SEARCH_SLO_H
#define TCPSCALER_CLIENT_SEARCH_SLO_H

#include <stdbool.h>
#include <stdint.h>

#define SLO_MOST        16u /* goals; each name at most once */
#define SLO_TEXT_BYTES  32
#define SLO_ERROR_BYTES 160
#define SLO_DEFAULT     "lost=0"

/* What a goal counts. */
enum slo_metric {
    SLO_RESPONSE, /* queries answered later than the limit after they were due, or never */
    SLO_SERVICE,  /* queries answered later than the limit after they were sent, or never */
    SLO_CONNECT,  /* connections established later than the limit, or never */
    SLO_LOST      /* queries without an answer */
};

struct slo_goal {
    char text[SLO_TEXT_BYTES]; /* as given: "p99<10ms" */
    enum slo_metric metric;
    uint64_t limit_ns;  /* 0 for SLO_LOST */
    uint64_t share_ppm; /* fraction in millionths that may exceed the limit */
};

struct slo {
    unsigned n; /* >= 1 */
    struct slo_goal goals[SLO_MOST];
};

/* Parses goals separated by commas: [service.|connect.](p50|p90|p99|p999|max)<TIME, lost<PERCENT%
 * or lost=0; each name once.  Returns 0, or -1 with one line in error (SLO_ERROR_BYTES). */
int slo_parse(struct slo *slo, const char *text, char *error);

/* Returns whether n_exceeding out of n meet the goal: at most its share; for "lost<", less than
 * that. */
bool slo_is_met(const struct slo_goal *goal, uint64_t n_exceeding, uint64_t n);

/* Returns the number of values needed to say that a goal is met: enough for 10 to exceed the limit,
 * as for a percentile that a report prints; 1 if none may. */
uint64_t slo_values_needed(const struct slo_goal *goal);

/* Returns the number of queries that a trial needs to judge all goals, so that the share of each
 * goal is 100 queries at p50 to p99, 30 at p999, and 10 lost ones; 100 if none may exceed it. */
uint64_t slo_queries_needed(const struct slo *slo);

/* Returns the longest limit; 0: none. */
uint64_t slo_longest_limit_ns(const struct slo *slo);

/* Returns whether a goal has this metric. */
bool slo_has(const struct slo *slo, enum slo_metric metric);

#endif
