/* SPDX-License-Identifier: MIT
 * openmetrics: writes metrics for Prometheus, and reads single values of such a text.
 *
 * Pure except for the stream.  Two formats: OpenMetrics 1.0 (prometheus/OpenMetrics,
 * specification/OpenMetrics.md), and the older text format 0.0.4, in which only the suffix _total
 * marks a counter and nothing marks the end.  Families are written one after the other, each with
 * its samples.  Numbers ignore the locale; an unknown value has no sample. */
#ifndef TCPSCALER_MEASURE_OPENMETRICS_H
#define TCPSCALER_MEASURE_OPENMETRICS_H

#include "measure/hist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OPENMETRICS_TEXT "text/plain; version=0.0.4; charset=utf-8"

enum { OPENMETRICS_VALUE_BYTES = 32 };

enum openmetrics_kind { OPENMETRICS_COUNTER, OPENMETRICS_GAUGE, OPENMETRICS_HISTOGRAM };

struct openmetrics {
    FILE *out;
    bool older; /* format 0.0.4 */
    const char *family;
    enum openmetrics_kind kind;
};

/* `accept` is the Accept field of the request, or NULL: clients that do not name OpenMetrics get
 * the older format. */
void openmetrics_init(struct openmetrics *m, FILE *out, const char *accept);

/* The value of Content-Type. */
const char *openmetrics_content_type(const struct openmetrics *m);

/* Starts a family; a counter's name is given without _total. */
void openmetrics_family(struct openmetrics *m, enum openmetrics_kind kind, const char *name,
                        const char *help);

/* A sample of a counter or gauge; label NULL: none.  UINT64_MAX: unknown. */
void openmetrics_u64(struct openmetrics *m, const char *label, const char *value_of_label,
                     uint64_t value);
void openmetrics_double(struct openmetrics *m, double value);

/* A sample in seconds, with nine decimals. */
void openmetrics_seconds(struct openmetrics *m, uint64_t ns);

/* A family of one sample without labels. */
void openmetrics_counter(struct openmetrics *m, const char *name, const char *help, uint64_t value);
void openmetrics_gauge(struct openmetrics *m, const char *name, const char *help, uint64_t value);

/* A family with one histogram in seconds, with upper bounds from 10 us to 10 s.  Samples beyond
 * count in +Inf and in the count; the sum covers the values only. */
void openmetrics_hist(struct openmetrics *m, const char *name, const char *help,
                      const struct hist *h);

void openmetrics_end(struct openmetrics *m);

/* Sets *sum to the sum over all samples of that name, whatever their labels.  Returns 0, or -1
 * if there is none. */
int openmetrics_sum(const char *text, const char *name, uint64_t *sum);

/* Copies the text of the first sample of that name.  Returns 0, or -1 if there is none. */
int openmetrics_value(const char *text, const char *name, char value[OPENMETRICS_VALUE_BYTES]);

#endif
