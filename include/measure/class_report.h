/* SPDX-License-Identifier: MIT
 * class_report: prints the figures of classes of clients as tables. */
#ifndef TCPSCALER_MEASURE_CLASS_REPORT_H
#define TCPSCALER_MEASURE_CLASS_REPORT_H

#include "measure/latency.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Counts of measured queries; UINT64_MAX, and NAN: unknown. */
struct class_report {
    const char *name;
    uint64_t clients, connected, proven, live;
    uint64_t scheduled, answered;
    double achieved_qps;
    struct latency response; /* count and over 0: unknown */
};

/* Prints nothing for no classes.  timeout_ns: see latency_report_text(). */
void class_report_text(FILE *out, const struct class_report *classes, size_t n,
                       uint64_t timeout_ns);

#endif
