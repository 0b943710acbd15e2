/* SPDX-License-Identifier: MIT
 * recording: reads the files of one run of tcpclient: its result (--json), its histograms (--hlog,
 * or computed from the rows of -R and -o: a query row without an answer row is an unanswered query;
 * queries never sent have no row) and its connections (--connections-out). */
#ifndef TCPSCALER_REPORT_RECORDING_H
#define TCPSCALER_REPORT_RECORDING_H

#include "report/connections.h"
#include "report/metrics.h"
#include "report/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct recording {
    char *name;                 /* the run's name: that of its files without .json, .hlog, .csv */
    char *directory;            /* where its first file is: an absolute path without links */
    struct json_object *result; /* NULL: no --json */
    struct metrics metrics;
    struct timeline timeline;             /* of the log; empty: none */
    bool has_values;                      /* a log or rows were read */
    bool has_rows;                        /* rows were read ... */
    uint64_t n_query_rows, n_answer_rows; /* ... with these counts */
    bool has_connections;                 /* --connections-out was read */
    bool has_bad_file;                    /* only while they are loaded */
    struct connections connections;       /* of --connections-out; empty: no such file */
};

struct recordings {
    struct recording *items; /* in the order of the files */
    size_t n;
};

/* Reads the files; files that share a name except for the extension belong to one run.  The content
 * of a file determines its type.  Returns 0; or -1 after one line about the first file that cannot
 * be read, is truncated, has an unknown format, or does not match the others of its run.  Free in
 * either case. */
int recordings_load(struct recordings *all, char *const *paths, size_t n_paths);

/* Likewise, but leaves out each run that has such a file, after a line about the file and one about
 * the run.  Returns 0, or -1 after one line if out of memory. */
int recordings_load_good(struct recordings *all, char *const *paths, size_t n_paths);
void recordings_free(struct recordings *all);

/* Gets the intervals of all logs, sorted.  Returns 0, or -1 if out of memory.  Free the timeline in
 * either case. */
int recordings_timeline(const struct recordings *all, struct timeline *timeline);

/* The statistics of a metric, from the result if there is one, otherwise from the values.  False:
 * unknown. */
bool recording_latency(struct recording *r, const char *metric, struct latency *l);

#endif
