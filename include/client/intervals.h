/* SPDX-License-Identifier: MIT
 * client_intervals: collects what the workers record, interval by interval, for the interval log,
 * the progress line and the totals.  Main thread only. */
#ifndef TCPSCALER_CLIENT_INTERVALS_H
#define TCPSCALER_CLIENT_INTERVALS_H

#include "base/output.h"
#include "client/workers.h"
#include "measure/batch_means.h"
#include "measure/hist.h"

struct client_intervals {
    struct client_workers *workers; /* borrowed */
    struct output *log;             /* interval log with its header written; NULL: none */
    struct hist *total;             /* CLIENT_N_QUERY_METRICS: sum of all intervals, borrowed */
    struct batch_means *batches;    /* likewise: one batch per interval */
    struct hist *also;              /* likewise: sum since the owner last reset it; NULL: none */
    uint64_t origin_ns;             /* time 0 of the log */
    uint64_t previous_ns;           /* the sets collected next were recorded from here ... */
    uint64_t last_ns;               /* ... to here, the last tick */
    struct hist interval[CLIENT_N_QUERY_METRICS];
    /* With classes, n_classes of each: the times of the interval, and of all, borrowed. */
    const struct client_class *classes;
    struct client_class_times class_intervals[CLIENT_CLASS_MOST], *class_totals;
    uint32_t n_classes;
    struct hist recent; /* response times of the last complete interval */
    bool failed;        /* a line of the log is missing: out of memory */
};

/* Workers, log, total and batches (empty) are borrowed.  Returns 0, or -1 if out of memory. */
int client_intervals_init(struct client_intervals *iv, struct client_workers *workers,
                          struct output *log, struct hist *total, struct batch_means *batches,
                          uint64_t origin_ns);
void client_intervals_free(struct client_intervals *iv);

/* Collects the times of each class, too.  class_totals: CLIENT_CLASS_MOST, all zero; both are
 * borrowed.  Returns 0, or -1 if out of memory. */
int client_intervals_add_classes(struct client_intervals *iv, const struct client_class *classes,
                                 uint32_t n_classes, struct client_class_times *class_totals);

/* Ends the current interval and collects the one before. */
void client_intervals_tick(struct client_intervals *iv, uint64_t now_ns);

/* Whether every worker has handed over since the last tick, which requested it. */
bool client_intervals_are_handed_over(const struct client_intervals *iv);

/* After all workers are joined: collects the rest. */
void client_intervals_finish(struct client_intervals *iv, uint64_t now_ns);

#endif
