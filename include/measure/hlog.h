/* SPDX-License-Identifier: MIT
 * hlog: histograms over time in HdrHistogram's interval log, format 1.3 (github.com/HdrHistogram:
 * "V2 encoding" in ZigZag LEB128, zlib, base64), as read by its viewers and libraries.  Main
 * thread. */
#ifndef TCPSCALER_MEASURE_HLOG_H
#define TCPSCALER_MEASURE_HLOG_H

#include "measure/hist.h"

#include <stdbool.h>
#include <stdio.h>

/* Encoding of a histogram; integers are big-endian. */
enum {
    HLOG_V2_COOKIE = 0x1c849313, /* "counts as LEB128" */
    HLOG_V2_COMPRESSED_COOKIE = 0x1c849314,
    HLOG_HEAD_BYTES = 40,
    HLOG_COMPRESSED_HEAD_BYTES = 8,
    HLOG_LEB128_BYTES = 9 /* the ninth byte carries eight bits */
};

/* Returns whether this program was built with zlib, which hlog_interval() requires. */
bool hlog_is_available(void);

/* Writes the header of the file.  Timestamps of the lines count from started_epoch_ns.  Write
 * errors stay in the stream. */
void hlog_begin(FILE *out, const char *program, const char *version, uint64_t started_epoch_ns);

/* Writes one line: the values of an interval of length_ns that began begin_ns after the start.  tag
 * NULL: untagged, what viewers show by default; otherwise without blanks and commas.  Interval_Max
 * is the maximum of the values in ms; samples beyond are counted at HIST_BEYOND_INDEX.  Returns 0;
 * or -1, with nothing written, if out of memory, if compression fails, or without zlib. */
int hlog_interval(FILE *out, const char *tag, uint64_t begin_ns, uint64_t length_ns,
                  const struct hist *h);

#endif
