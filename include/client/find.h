/* SPDX-License-Identifier: MIT
 * client_find: runs the trials of a capacity search (client/search/search.h).
 *
 * The connections stay open and only the load changes.  A trial waits until all connections are
 * live, sends at its rate, skips what becomes due during the transition, measures, and then sends
 * nothing until every query has its outcome, so that an overload does not affect the next trial;
 * then it collects what the workers recorded and judges it.  A query belongs to the trial in which
 * it became due, however late its answer.  Main thread only. */
#ifndef TCPSCALER_CLIENT_FIND_H
#define TCPSCALER_CLIENT_FIND_H

#include "client/intervals.h"
#include "client/opts_table.h"
#include "client/search/search.h"
#include "client/steer.h"
#include "client/workers.h"
#include "measure/tally.h"
#include "workload/trend.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_FIND_TEXT_BYTES 128

struct client_find_settings {
    int what; /* enum client_find_what, not NONE */
    struct slo slo;
    double min, max; /* loads */
    double width;
    uint64_t time_ns;
    double rate_qps; /* with find connections: queries per second at every load */
};

/* Results of a trial besides its order and judgment. */
struct client_find_trial {
    uint64_t begin_ns; /* relative to the start of the search */
    uint64_t live;     /* connections at the end of the trial */
    struct trial_figures figures;
    uint64_t n_lost;
    uint64_t p50_ns, p99_ns; /* response time; HIST_BEYOND or LATENCY_UNKNOWN */
    bool drained;            /* every query had its outcome in time */
};

struct client_find {
    const struct client_find_settings *settings; /* borrowed, set by the caller */
    /* Internal. */
    const struct client_config *config;
    struct client_steer *steer;
    struct client_workers *workers;
    struct client_intervals *intervals;
    struct search search;
    struct client_find_trial trials[SEARCH_MOST_TRIALS];
    uint64_t elapsed_ns; /* since the start of the search */
    uint64_t begin_ns;
    struct search_order order;
    int phase;
    uint64_t trial_ns, measure_ns, end_ns; /* of the trial: start, start of the measurement, end */
    uint64_t quiet_since_ns, n_seen;       /* since when no event was counted, and the count */
    struct tally_queries before;           /* measured queries before the trial */
    struct trend trend;
    struct hist recorded[CLIENT_N_QUERY_METRICS]; /* of the trial */
};

/* The settings are set by the caller; the others are borrowed.  Returns 0, or -1 if out of memory.
 */
int client_find_init(struct client_find *f, const struct client_config *run,
                     struct client_steer *steer, struct client_workers *workers,
                     struct client_intervals *intervals);
void client_find_free(struct client_find *f); /* also if all zero */

/* The load begins, without queries. */
void client_find_begin(struct client_find *f, uint64_t begin_ns);

/* Call it every 20 ms.  Returns false when the search is over. */
bool client_find_look(struct client_find *f, uint64_t now_ns);

/* Ends the search on request. */
void client_find_stop(struct client_find *f);

/* Describes the current step, for the progress line.  Returns text (CLIENT_FIND_TEXT_BYTES). */
const char *client_find_describe(const struct client_find *f, char *text);

#endif
