/* SPDX-License-Identifier: MIT
 * metrics: the histograms of a run by name (response, service, ...), from its files, and their
 * exact sum over several runs.  Pure. */
#ifndef TCPSCALER_REPORT_METRICS_H
#define TCPSCALER_REPORT_METRICS_H

#include "measure/hist.h"
#include "measure/latency.h"

#include <stdbool.h>

#define METRICS_NAME_BYTES 32
#define METRICS_MOST       128 /* 15 of a run, and 2 of each class; merged runs have others */

struct metric {
    char name[METRICS_NAME_BYTES];
    /* Count, extremes and moments are those of all values; the counts, too, if there are any.
     * Without, as of a result alone, no percentile is known, and hist.counts may be NULL. */
    struct hist hist;
    bool has_counts;
    struct batch_means batches; /* of the values, by second; empty: not known */
};

struct metrics {
    struct metric *items; /* METRICS_MOST of them; NULL: none yet */
    unsigned n;
};

void metrics_free(struct metrics *m);

/* NULL if there is none of this name. */
const struct metric *metrics_find(const struct metrics *m, const char *name);

/* Likewise, but adds a new, empty one with counts if there is none; NULL: no room, out of memory,
 * or a name of METRICS_NAME_BYTES or more. */
struct metric *metrics_get(struct metrics *m, const char *name);

/* Why it has not added a name that is short enough: `full`, or "out of memory". */
const char *metrics_shortage(const struct metrics *m, const char *full);

/* Adds a result's statistics of a metric: count, extremes and moments, which are exact where those
 * from a log are not, and the unanswered queries; rows lack those that were never sent.  Existing
 * counts must be of the same values: returns 0, or -1 if their number, minimum or maximum differ.
 */
int metrics_learn(struct metric *metric, const struct latency *l);

/* Adds every metric of `from` except the batches, which are recomputed for runs in parallel.
 * Returns 0, or -1 as metrics_get() fails. */
int metrics_merge(struct metrics *into, const struct metrics *from);

/* The statistics; percentiles without counts are LATENCY_UNKNOWN. */
void metrics_latency(const struct metric *metric, struct latency *l);

#endif
