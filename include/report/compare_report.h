/* SPDX-License-Identifier: MIT
 * compare_report: what cmd_compare and cmd_nights share: a check and the output.  Metrics are those
 * of run_metrics, in its order. */
#ifndef TCPSCALER_REPORT_COMPARE_REPORT_H
#define TCPSCALER_REPORT_COMPARE_REPORT_H

#include "base/json.h"
#include "report/comparison.h"
#include "report/opts.h"
#include "report/run_group.h"

#include <stdbool.h>

#define COMPARE_REPORT_REASON_BYTES 200

/* The part of a result that does not depend on the method of comparison. */
struct compare_report {
    int code;                                 /* exit code of cmd_compare() */
    char reason[COMPARE_REPORT_REASON_BYTES]; /* why the comparison is inconclusive */
    bool is_judged[RUN_METRICS];
    bool of_searches; /* the runs are capacity searches */
};

/* "same", "worse" or "better". */
const char *compare_report_finding(enum comparison_finding finding);

/* Whether all VALID runs of two groups have the unit and, without --force, the settings and the
 * host of `first`, and whether, without --any-answers, both groups got the same kinds of answers.
 * If not, sets the reason. */
bool compare_report_check(struct compare_report *r, const struct report_opts *opts,
                          const struct recording *first, const struct run_group *a,
                          const struct run_group *b);

/* Prints the verdict on stdout, with the reason if it is inconclusive.  Returns whether it is
 * conclusive: findings follow. */
bool compare_report_verdict(const struct compare_report *r);

/* Prints a value of the metric on stdout, in 11 columns. */
void compare_report_value(const struct run_metric *row, double value);

/* Prints "; not judged: ..." on stdout, or nothing if all metrics were judged. */
void compare_report_not_judged(const struct compare_report *r);

/* Whether the JSON goes to stdout, which then has nothing else. */
bool compare_report_json_is_stdout(const char *path);

/* Writes the file of --json: verdict, reason, the keys that put() adds, and the metrics not judged.
 * path NULL: writes nothing.  Returns the exit code; after a message on stderr, CMD_USAGE if the
 * file cannot be opened, CMD_UNWRITTEN if it cannot be written. */
int compare_report_json(const struct compare_report *r, const char *path,
                        void (*put)(struct json *j, const void *arg), const void *arg);

#endif
