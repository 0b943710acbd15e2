/* SPDX-License-Identifier: MIT
 * history: the response times and the rates of a run over time, in at most HISTORY_MOST_COLUMNS
 * columns of whole seconds, from its interval log.  Pure. */
#ifndef TCPSCALER_REPORT_HISTORY_H
#define TCPSCALER_REPORT_HISTORY_H

#include "report/timeline.h"

#include <stddef.h>
#include <stdint.h>

enum { HISTORY_MOST_COLUMNS = 240, HISTORY_ROWS_PER_DECADE = 12, HISTORY_ROWS = 156 };

struct history_column {
    double begin_s, length_s; /* since the first interval; length 0: nothing was recorded */
    uint64_t n_sent;
    uint64_t n_answered;             /* by the time of the answer */
    uint64_t p50_ns, p99_ns, max_ns; /* as in struct latency */
    uint64_t counts[HISTORY_ROWS];   /* answers by time: row i is from history_row_s(i) */
};

struct history {
    struct history_column *columns;
    size_t n;
    double column_s;              /* nominal length */
    unsigned first_row, end_rows; /* the rows that have counts */
    uint64_t most;                /* the highest of all counts */
    double from_s, to_s;          /* of the measurement, since the first interval; 0: unknown */
};

/* Computes the history of a sorted timeline.  Returns 0, or -1 if out of memory.  Free it in either
 * case. */
int history_make(struct history *h, const struct timeline *t);
void history_free(struct history *h);

/* Sets when the measurement began and ended, since the epoch; end_ns 0: unknown.  Ignores a start
 * that is not in the first column: the clock was set, or the log is of another time. */
void history_set_measurement(struct history *h, const struct timeline *t, uint64_t begin_ns,
                             uint64_t end_ns);

/* The lowest time of a row, in seconds: 1 ns * 10^(row / HISTORY_ROWS_PER_DECADE). */
double history_row_s(unsigned row);

#endif
