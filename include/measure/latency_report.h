/* SPDX-License-Identifier: MIT
 * latency_report: the figures of a metric as a line of a table and as JSON, and a histogram as
 * bars. */
#ifndef TCPSCALER_MEASURE_LATENCY_REPORT_H
#define TCPSCALER_MEASURE_LATENCY_REPORT_H

#include "measure/latency.h"

#include <stdio.h>

struct json;

/* The table's head; `title` over the names of its lines. */
void latency_report_head(FILE *out, const char *title);

/* A line of the table; nothing where there is no sample.  A percentile among the unanswered is
 * printed as more than timeout_ns; 0: not known. */
void latency_report_text(FILE *out, const char *name, const struct latency *l, uint64_t timeout_ns);

/* The line below the response time's: whether each percentile, and last the maximum, is the
 * server's; nothing where all are. */
void latency_report_holds(FILE *out, const bool holds[LATENCY_N_PERCENTILES + 1]);

/* Values below 1, 2, 5, 10, ... ns, a line each; nothing where there is none. */
void latency_report_bars(FILE *out, const char *title, const struct hist *h);

/* An object with the keys of README, "The JSON result". */
void latency_report_json(struct json *j, const char *key, const struct latency *l);

#endif
