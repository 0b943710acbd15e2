/* SPDX-License-Identifier: MIT
 * class_reader: reads the figures of classes of clients from a result. */
#ifndef TCPSCALER_REPORT_CLASS_READER_H
#define TCPSCALER_REPORT_CLASS_READER_H

#include "measure/class_report.h"

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/* At least as many as merged runs have together: see METRICS_MOST. */
enum { CLASS_READER_MOST = 64 };

/* Returns the number of classes; 0: the run had none.  Names are borrowed from the result. */
size_t class_reader_take(const struct json_object *result,
                         struct class_report classes[CLASS_READER_MOST]);

/* Whether a metric is that of a class, such as "response:stub". */
bool class_reader_is_of_class(const char *metric);

#endif
