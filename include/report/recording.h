/* SPDX-License-Identifier: MIT
 * recording: what is on disk of one run of tcpclient: its result (--json), its histograms (--hlog,
 * or the rows of -R and -o, from which the same are made: a query row without its answer row is a
 * query never answered, those never sent have no row), its connections (--connections-out).
 * Reads files. */
#ifndef TCPSCALER_REPORT_RECORDING_H
#define TCPSCALER_REPORT_RECORDING_H

#include "report/metrics.h"
#include "report/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct recording {
    char *name;                 /* the run's: that of its files without .json, .hlog, .csv */
    struct json_object *result; /* NULL: no --json */
    struct metrics metrics;
    struct timeline timeline;             /* of the log; empty: none */
    bool has_values;                      /* a log or rows were read */
    bool has_rows;                        /* it was rows ... */
    uint64_t n_query_rows, n_answer_rows; /* ... so many */
    uint64_t *established_ns; /* of --connections-out: since it began to connect, in order ... */
    size_t n_established;     /* ... of time; 0: no such file */
};

struct recordings {
    struct recording *items; /* in the order of the files */
    size_t n;
};

/* Reads the files; those of one name but for the ending are of one run.  What a file is, its
 * content says.  Returns 0, or -1 after one line about the first file that cannot be read, is cut
 * off, is no such file, or does not belong to the others of its name. */
int recordings_load(struct recordings *all, char *const *paths, size_t n_paths);
void recordings_free(struct recordings *all);

/* The intervals of all logs, sorted; the caller's to free.  Returns 0, or -1 without memory. */
int recordings_timeline(const struct recordings *all, struct timeline *timeline);

/* The figures of a metric: those of the result, or else those of the values.  False: none. */
bool recording_latency(struct recording *r, const char *metric, struct latency *l);

#endif
