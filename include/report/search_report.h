/* SPDX-License-Identifier: MIT
 * search_report: prints the capacity search of a result: its answer and its trials. */
#ifndef TCPSCALER_REPORT_SEARCH_REPORT_H
#define TCPSCALER_REPORT_SEARCH_REPORT_H

#include <stdint.h>

struct json_object;

/* Prints the object `search` of a result on stdout, with the timeout of its queries; 0: unknown. */
void search_report(const struct json_object *search, uint64_t timeout_ns);

/* Likewise the answers of the searches in the object `sweep`. */
void search_report_sweep(const struct json_object *sweep);

#endif
