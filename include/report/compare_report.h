/* SPDX-License-Identifier: MIT
 * compare_report: what cmd_compare and cmd_nights print and write alike.  Metrics are those of
 * run_metrics, in its order. */
#ifndef TCPSCALER_REPORT_COMPARE_REPORT_H
#define TCPSCALER_REPORT_COMPARE_REPORT_H

#include "base/json.h"
#include "report/comparison.h"
#include "report/run_group.h"

#include <stdbool.h>

/* PASS, REGRESSION or INCONCLUSIVE, of an exit code of cmd_compare(). */
const char *compare_report_verdict(int code);

/* same, worse or better. */
const char *compare_report_finding(enum comparison_finding finding);

/* A value of the metric on stdout, in 11 columns. */
void compare_report_value(const struct run_metric *row, double value);

/* "; not judged: ..." on stdout; nothing when all were judged. */
void compare_report_not_judged(const bool is_judged[RUN_METRICS]);

/* Opens the file of --json and begins its object with the verdict and, when it is inconclusive, the
 * reason.  Returns 0, or -1 after a line on stderr. */
int compare_report_json_begin(struct json *j, const char *path, int code, const char *reason);

/* Ends the object with the metrics not judged, and closes the file.  Returns likewise. */
int compare_report_json_end(struct json *j, const char *path, const bool is_judged[RUN_METRICS]);

#endif
