/* SPDX-License-Identifier: MIT
 * client_figures: what one worker counts and measures.
 *
 * The worker's thread writes; the main thread reads gauges and tally at any time, and the rest
 * after the join.  Histograms of queries are handed over by exchanging two sets: while the main
 * thread merges one, the worker records into the other. */
#ifndef TCPSCALER_CLIENT_WORKER_FIGURES_H
#define TCPSCALER_CLIENT_WORKER_FIGURES_H

#include "client/worker/metric.h"
#include "client/worker/record.h"
#include "measure/hist.h"
#include "measure/losses.h"
#include "measure/tally.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct client_figures {
    tally_count n_live;        /* gauge: usable connections */
    tally_count n_half_open;   /* gauge: established, their proof timed out */
    tally_count n_deaf;        /* gauge: CLIENT_CONN_DEAF queries or more timed out in a row */
    tally_count in_flight;     /* gauge: measured queries sent and not yet accounted for */
    tally_count n_wanted;      /* gauge: connections; at most the slots */
    tally_count n_asked;       /* connections in all: slots, or with targets each request */
    tally_count n_settled;     /* slots whose first connection has left the connect window */
    tally_count n_ever_usable; /* connections that were usable at some time */
    uint32_t connect_window;   /* of this worker; constant */
    struct tally tally;
    struct hist sets[2][CLIENT_N_QUERY_METRICS];
    struct hist *metrics;           /* the set that is recorded into */
    _Atomic uint32_t n_handed_over; /* sets given to the main thread */
    _Atomic uint32_t n_collected;   /* sets it has merged and emptied */
    /* of the whole run: a second set would touch more pages than the connections of a small run */
    struct hist connect_times, handshake_times, min_rtts, gaps;
    struct losses losses;
    struct client_record *records; /* as client_transport.conns; NULL: not asked for */
    uint64_t first_connect_ns, last_established_ns;
    uint64_t last_sent_ns; /* of a measured query; 0: none was */
    uint64_t first_lag_ns; /* the first one's, after it was due */
    int64_t least_push_ns; /* the least response time of a message; INT64_MAX: none */
    const char *tls_version, *tls_cipher; /* of the first handshake that succeeded; NULL: none */
};

/* With a record for each of n_connections, if `with_records`.  Returns 0 or -1 with errno. */
int client_figures_init(struct client_figures *f, uint32_t n_connections, bool with_records);
void client_figures_free(struct client_figures *f); /* also when all 0 */

/* The worker's thread: gives the set in use to the main thread, unless that is still busy with the
 * one before. */
void client_figures_hand_over(struct client_figures *f);

/* Main thread: adds what was handed over since the last time to into[CLIENT_N_QUERY_METRICS]. */
void client_figures_collect(struct client_figures *f, struct hist *into);

/* Main thread, after the join: adds all that has not been collected. */
void client_figures_collect_rest(struct client_figures *f, struct hist *into);

#endif
