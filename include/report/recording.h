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
#include <stdint.h>

struct json_object;

struct recording {
    char *name;                 /* the run's name: that of its files without .json, .hlog, .csv */
    char *directory;            /* where its first file is: an absolute path without links */
    struct json_object *result; /* NULL: no --json */
    struct metrics metrics;
    bool leaves_out_intervals;            /* set before reading: `timeline` stays empty */
    struct timeline timeline;             /* of the log; also empty if nothing was measured */
    bool has_values;                      /* a log or rows were read */
    bool has_log;                         /* a log was read ... */
    uint64_t log_start_ns;                /* ... with this StartTime, since the epoch */
    bool has_rows;                        /* rows were read ... */
    uint64_t n_query_rows, n_answer_rows; /* ... with these counts */
    bool has_connections;                 /* --connections-out was read */
    bool has_bad_file;                    /* only in recordings.c, while it loads */
    struct connections connections;       /* of --connections-out; empty: no such file */
};

/* Reads one more of its files; the content of the file determines its type.  Returns 0; or -1 after
 * one line on stderr if the file cannot be read, is truncated, has an unknown format, or is the
 * second of its kind. */
int recording_read(struct recording *r, const char *path);

/* After the last file: adds the statistics of the result, if there is one.  Returns 0, or -1 after
 * one line on stderr if the values or the connections are not those that the result counts. */
int recording_learn(struct recording *r);

/* The statistics of a metric, from the result if there is one, otherwise from the values.  False:
 * unknown. */
bool recording_latency(struct recording *r, const char *metric, struct latency *l);

/* Frees everything that was read but the result. */
void recording_free_values(struct recording *r);

/* Frees all but the recording itself. */
void recording_free(struct recording *r);

#endif
