/* SPDX-License-Identifier: MIT
 * report_class: prints the results of the classes of clients (--class). */
#ifndef TCPSCALER_CLIENT_REPORT_CLASS_H
#define TCPSCALER_CLIENT_REPORT_CLASS_H

#include "base/json.h"
#include "client/report.h"

/* Prints nothing without classes. */
void report_class_text(FILE *out, const struct report_about *about, const struct client_result *r);

/* The key "classes": their counts by name, or null. */
void report_class_json(struct json *j, const struct report_about *about,
                       const struct client_result *r);

/* Keys of "latency_ns": the metrics of each class. */
void report_class_json_latency(struct json *j, const struct report_about *about,
                               const struct client_result *r);

#endif
