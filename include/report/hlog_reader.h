/* SPDX-License-Identifier: MIT
 * hlog_reader: parses an interval log of HdrHistogram, written by hlog or another program: V2
 * encoding, nanoseconds from 1, 3 digits.  The highest value may be any, but values above 1 h are
 * refused.  Trusts nothing it reads.  Pure; needs zlib. */
#ifndef TCPSCALER_REPORT_HLOG_READER_H
#define TCPSCALER_REPORT_HLOG_READER_H

#include "measure/hist.h"

#include <stddef.h>

#define HLOG_ERROR_BYTES 160
#define HLOG_TAG_BYTES   32

enum hlog_line {
    HLOG_NOTE,     /* a comment, the legend, an empty line */
    HLOG_START,    /* start of the log: begin_ns, since the epoch */
    HLOG_INTERVAL, /* a histogram */
    HLOG_BAD       /* not a line of such a log; error has the reason */
};

struct hlog_interval {
    char tag[HLOG_TAG_BYTES];     /* empty: untagged */
    uint64_t begin_ns, length_ns; /* since the start of the log */
    uint64_t max_ns;              /* Interval_Max */
    const char *base64;           /* the histogram: part of the line, ... */
    size_t n_base64;              /* ... without its end */
};

/* Parses one line, with or without newline; terminated with NUL.  Fields that the line does not
 * have are 0. */
enum hlog_line hlog_reader_line(const char *line, struct hlog_interval *interval,
                                char error[HLOG_ERROR_BYTES]);

/* Decodes the histogram of an interval into an empty one.  Counts are exact, and the maximum is if
 * Interval_Max lies in the highest bucket in use; otherwise it is that bucket's highest value.  The
 * minimum is the lowest value of its bucket, mean and deviation use the buckets' middles; counts at
 * HIST_BEYOND_INDEX are samples beyond.  Returns 0; or -1 with a reason in error and h fit only to
 * be reset or freed. */
int hlog_reader_histogram(const struct hlog_interval *interval, struct hist *h,
                          char error[HLOG_ERROR_BYTES]);

/* Likewise from the decompressed encoding; max_ns 0: unknown. */
int hlog_reader_counts(const uint8_t *data, size_t n_bytes, uint64_t max_ns, struct hist *h,
                       char error[HLOG_ERROR_BYTES]);

#endif
