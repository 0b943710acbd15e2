/* SPDX-License-Identifier: MIT
 * total: the runs of instances that ran in parallel, added up into one. */
#ifndef TCPSCALER_REPORT_TOTAL_H
#define TCPSCALER_REPORT_TOTAL_H

#include "report/metrics.h"

#include <stdio.h>

struct json_object;
struct recordings;

struct total {
    struct json_object *result; /* without latency_ns; NULL: not every run has a result */
    struct metrics metrics;
};

/* Adds up the runs; *total must be zeroed.  Returns 0, or -1 after one line on stderr.  Free in
 * either case. */
int total_make(struct total *total, const struct recordings *all);
void total_free(struct total *total);

/* Prints the result of a total that has one: the keys of tcpclient's, and the instances. */
void total_print_json(FILE *out, struct recordings *all, const struct total *total);

#endif
