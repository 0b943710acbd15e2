/* SPDX-License-Identifier: MIT
 * client_figures: a worker's counters and measurements.
 *
 * Written by the worker's thread.  Other threads may read gauges and tally at any time; the main
 * thread reads the rest after joining the worker.  Two sets of query histograms are exchanged: the
 * main thread merges one while the worker records into the other. */
#ifndef TCPSCALER_CLIENT_WORKER_FIGURES_H
#define TCPSCALER_CLIENT_WORKER_FIGURES_H

#include "client/worker/class_figures.h"
#include "client/worker/metric.h"
#include "client/worker/record.h"
#include "measure/hist.h"
#include "measure/losses.h"
#include "measure/tally.h"
#include "measure/timeout_counts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct client_setup_times;

struct client_figures {
    tally_count n_live;      /* gauge: usable connections */
    tally_count n_half_open; /* gauge: established, but the proof timed out */
    /* gauge: connections on which at least CLIENT_CONN_UNRESPONSIVE queries in a row timed out. */
    tally_count n_unresponsive;
    tally_count in_flight;          /* gauge: measured queries in flight */
    tally_count n_opened_for_query; /* gauge: connections opened for a query and not ended */
    tally_count n_wanted;           /* gauge: connections wanted, at most the number of slots */
    /* Connections requested in total: slots, or with targets every request. */
    tally_count n_requested;
    tally_count n_settled;     /* slots whose first connection has left the connect window */
    tally_count n_ever_usable; /* connections that were usable at some time */
    uint32_t connect_window;   /* this worker's share; constant */
    struct tally tally;
    struct hist sets[2][CLIENT_N_QUERY_METRICS];
    struct hist *metrics;                 /* the set being recorded into */
    struct client_class_figures *classes; /* one per class; NULL: no classes */
    uint32_t n_classes;
    uint32_t set;                   /* index of the set being recorded into */
    _Atomic uint32_t n_handed_over; /* sets handed to the main thread */
    _Atomic uint32_t n_collected;   /* sets merged and cleared by the main thread */
    /* Over the whole run, not in two sets: a second set would touch more memory than the
     * connections of a small run. */
    struct hist connect_times, handshake_times, min_rtts, gaps, recoveries;
    struct losses losses;
    struct timeout_counts timeouts; /* of edns-tcp-keepalive, if it is requested */
    /* One per element of client_transport.conns; NULL: not requested. */
    struct client_record *records;
    struct client_setup_times
        *setup_times; /* likewise (client/worker/setup_times.h); NULL: not kept */
    uint64_t first_connect_ns, last_established_ns;
    uint64_t last_sent_ns;      /* of a measured query; 0: none sent */
    uint64_t last_unblocked_ns; /* of those that did not wait for an id; 0: none */
    uint64_t first_lag_ns;      /* send lag of the first measured query */
    uint64_t longest_hold_ns;   /* of a measured query: client/worker/hold.h */
    uint64_t stopped_ns;        /* when a listener stopped measuring on request; 0: it did not */
    int64_t least_push_ns;      /* lowest response time of a message; INT64_MAX: no message */
    const char *tls_version, *tls_cipher; /* of the first successful handshake; NULL: none */
};

/* Allocates what every run records, and records for n_connections if `with_records`.  Gaps,
 * recoveries, timeouts and arrivals are allocated by the parts that record them.  Returns 0 or -1
 * with errno; free it in either case. */
int client_figures_init(struct client_figures *f, uint32_t n_connections, bool with_records,
                        uint32_t n_classes);
void client_figures_free(struct client_figures *f); /* also if all zero */

/* Worker's thread: hands the current set to the main thread, unless that is still merging the
 * previous one. */
void client_figures_hand_over(struct client_figures *f);

/* Main thread: whether there is a set to collect. */
bool client_figures_are_handed_over(const struct client_figures *f);

/* Main thread: adds the values handed over since the last call to into[CLIENT_N_QUERY_METRICS], and
 * those of the classes to `of_classes`. */
void client_figures_collect(struct client_figures *f, struct hist *into,
                            struct client_class_times *of_classes);

/* Main thread, after the join: adds all values not yet collected. */
void client_figures_collect_rest(struct client_figures *f, struct hist *into,
                                 struct client_class_times *of_classes);

/* Counts a query, in all and in its class.  count: TALLY_OF(). */
static inline void client_figures_count_query(struct client_figures *f, enum tally_class purpose,
                                              uint32_t class_index, size_t count)
{
    tally_count_query(&f->tally.queries[purpose], count);
    if (f->classes != NULL)
        tally_count_query(&f->classes[class_index].tally.queries[purpose], count);
}

/* Returns the current set of a class; there must be classes. */
static inline struct client_class_times *client_figures_class_times(struct client_figures *f,
                                                                    uint32_t class_index)
{
    return &f->classes[class_index].sets[f->set];
}

#endif
