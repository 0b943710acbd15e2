/* SPDX-License-Identifier: MIT
 * latency_report: prints the statistics of a metric as a line of a table and as JSON, and a
 * histogram as bars. */
#ifndef TCPSCALER_MEASURE_LATENCY_REPORT_H
#define TCPSCALER_MEASURE_LATENCY_REPORT_H

#include "measure/latency.h"

#include <stdio.h>

struct json;

/* Columns of the table's names, unless one is longer. */
enum { LATENCY_REPORT_NAME = 11 };

/* Returns `width`, or the columns that the name needs if these are more. */
int latency_report_width(int width, const char *name);

/* Prints the header of a table with `width` columns for the names; `title` is the heading of the
 * first column. */
void latency_report_head(FILE *out, const char *title, int width);

/* Prints a percentile in 10 columns; "-" for LATENCY_UNKNOWN.  One among the unanswered is printed
 * as more than timeout_ns, or for 0, which is unknown, as ">timeout", and for LATENCY_NEVER as
 * "never". */
void latency_report_percentile(FILE *out, uint64_t value_ns, uint64_t timeout_ns);

/* Prints a line of the table; nothing if there are no samples. */
void latency_report_text(FILE *out, const char *name, int width, const struct latency *l,
                         uint64_t timeout_ns);

/* Prints the line below the response time: whether each percentile, and finally the maximum, holds;
 * nothing if all do. */
void latency_report_holds(FILE *out, int width, const bool holds[LATENCY_N_PERCENTILES + 1]);

/* Prints a line per interval between 1, 2, 5, 10, ... ns: its upper bound, the number of values in
 * it, and a bar.  Prints nothing if there are no values. */
void latency_report_bars(FILE *out, const char *title, const struct hist *h);

/* An object with the keys of latency_ns in docs/result.md. */
void latency_report_json(struct json *j, const char *key, const struct latency *l);

#endif
