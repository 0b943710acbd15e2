/* SPDX-License-Identifier: MIT
 * preflight_report: a preflight as a table for people and as JSON, and its warnings as single
 * lines. */
#ifndef TCPSCALER_HOST_PREFLIGHT_REPORT_H
#define TCPSCALER_HOST_PREFLIGHT_REPORT_H

#include "host/preflight.h"

#include <stdio.h>

struct json;

/* title: what is planned, one line. */
void preflight_report_text(FILE *out, const char *title, const struct preflight *p);

/* The outermost object: schema, program, title, level (the worst) and plan, an array of {limit, is,
 * needed, level, fix}; figures that are not known are null. */
void preflight_report_json_object(struct json *j, const char *program, const char *title,
                                  const struct preflight *p);

/* One line on stderr for each line of at least this level; subject: the option that asked for it.
 */
void preflight_report_log(const struct preflight *p, const char *subject,
                          enum preflight_level least);

#endif
