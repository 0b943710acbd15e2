/* SPDX-License-Identifier: MIT
 * preflight_report: prints a preflight as a table, as JSON, or its warnings as single lines. */
#ifndef TCPSCALER_HOST_PREFLIGHT_REPORT_H
#define TCPSCALER_HOST_PREFLIGHT_REPORT_H

#include "host/preflight.h"

#include <stdio.h>

struct json;

/* title: one line that describes the plan. */
void preflight_report_text(FILE *out, const char *title, const struct preflight *p);

/* The top-level object: schema, program, title, level (the worst) and plan, an array of {limit, is,
 * needed, level, fix}; unknown figures are null. */
void preflight_report_json_object(struct json *j, const char *program, const char *title,
                                  const struct preflight *p);

/* One line on stderr for each limit of at least this level; subject: the option that requires it.
 */
void preflight_report_log(const struct preflight *p, const char *subject,
                          enum preflight_level least);

#endif
