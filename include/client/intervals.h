/* SPDX-License-Identifier: MIT
 * client_intervals: what the workers recorded, interval by interval: for the interval log, for the
 * progress line, and as the sum of all.  Main thread only. */
#ifndef TCPSCALER_CLIENT_INTERVALS_H
#define TCPSCALER_CLIENT_INTERVALS_H

#include "client/workers.h"
#include "measure/batch_means.h"
#include "measure/hist.h"

#include <stdio.h>

struct client_intervals {
    struct client_workers *workers; /* borrowed */
    FILE *log;                      /* interval log, begun; NULL: none */
    struct hist *total; /* CLIENT_N_QUERY_METRICS: the sum of all intervals, the caller's */
    struct batch_means *batches; /* likewise: the intervals one by one */
    uint64_t origin_ns;          /* the log counts from here */
    uint64_t previous_ns;        /* the sets to be collected next were recorded from here ... */
    uint64_t last_ns;            /* ... to here, the last tick */
    struct hist interval[CLIENT_N_QUERY_METRICS];
    struct hist recent; /* response times of the last interval that is complete */
    bool failed;        /* a line of the log is missing for want of memory */
};

/* Crew, log, total and batches (empty) are borrowed.  Returns 0, or -1 without memory. */
int client_intervals_init(struct client_intervals *iv, struct client_workers *workers, FILE *log,
                          struct hist *total, struct batch_means *batches, uint64_t origin_ns);
void client_intervals_free(struct client_intervals *iv);

/* The interval before the last one is collected, the last one ends now and is asked for. */
void client_intervals_tick(struct client_intervals *iv, uint64_t now_ns);

/* After all workers are joined: the rest. */
void client_intervals_finish(struct client_intervals *iv, uint64_t now_ns);

#endif
