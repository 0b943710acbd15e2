/* SPDX-License-Identifier: MIT
 * client_find_state: a capacity search under way, shared by the parts that make, count and report
 * its trials (client/find.h). */
#ifndef TCPSCALER_CLIENT_FIND_STATE_H
#define TCPSCALER_CLIENT_FIND_STATE_H

#include "client/accept_queue.h"
#include "client/find_settings.h"
#include "client/intervals.h"
#include "client/search/search.h"
#include "client/steer.h"
#include "client/workers.h"
#include "measure/batch_means.h"
#include "measure/tally.h"
#include "workload/trend.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_FIND_TEXT_BYTES 160

/* Results of a trial besides its order and judgment. */
struct client_find_trial {
    uint64_t begin_ns; /* relative to the start of the search */
    uint64_t live;     /* connections at the end of the trial */
    struct trial_figures figures;
    uint64_t n_lost;
    uint64_t p50_ns, p99_ns; /* response time; HIST_BEYOND or LATENCY_UNKNOWN */
    uint64_t connect_p99_ns; /* likewise, of connecting, with CLIENT_FIND_CONNECT_RATE */
    uint64_t n_without_port; /* of figures.n_not_opened */
    uint64_t n_not_begun;    /* connections due while --max-connections were in progress */
    uint64_t syn_retransmits;
    uint64_t overflows; /* of the server's accept queues; HOST_COUNTERS_UNKNOWN: it is elsewhere */
    uint64_t handshakes, resumed; /* TLS handshakes completed, and how many of them resumed a
                                     session; UINT64_MAX: without TLS, or of an overload */
    bool drained;                 /* every query had its outcome in time */
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
    uint64_t elapsed_ns;    /* since the start of the search */
    uint64_t n_connections; /* open during a search for a rate */
    uint64_t begin_ns;
    struct search_order order;
    int phase;
    uint64_t trial_ns, measure_ns, end_ns; /* of the trial: start, start of the measurement, end */
    uint64_t collected_ns;                 /* the last interval looked at */
    uint64_t quiet_since_ns, n_seen;       /* last change of the number watched; and it, or the
                                              fewest connections that were missing */
    uint64_t n_served, served_ns;          /* usable connections and answers; when the last came,
                                              since the start */
    uint64_t n_refused;                    /* connections, when that came */
    struct tally before;                   /* counts before the trial */
    struct client_accept_queue queue_before;
    struct trend trend;                           /* of the queries that are measured, ... */
    struct trend trend_of_all;                    /* ... and with those of the start of the trial */
    struct trial_exceeding collected[SLO_MOST];   /* of the trial, in the intervals so far */
    struct batch_means shares[SLO_MOST];          /* that exceeded each limit, by interval, but
                                                     for the first ones, which lack losses */
    struct hist recorded[CLIENT_N_QUERY_METRICS]; /* of the trial */
};

#endif
