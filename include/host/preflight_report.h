/* SPDX-License-Identifier: MIT
 * preflight_report: prints a preflight as a table, as JSON, or its warnings as single lines. */
#ifndef TCPSCALER_HOST_PREFLIGHT_REPORT_H
#define TCPSCALER_HOST_PREFLIGHT_REPORT_H

#include "host/preflight.h"

#include <stdio.h>

struct output;

/* title: one line that describes the plan. */
void preflight_report_text(FILE *out, const char *title, const struct preflight *p);

/* The answer to --plan: as text on stdout or, if it is open, as JSON in `json`, which is closed: an
 * object with schema, program, title, level (the worst) and plan, an array of {limit, is, needed,
 * level, fix}; unknown figures are null.  Returns 0, or -1 after a line on stderr. */
int preflight_report_plan(struct output *json, const char *program, const char *title,
                          const struct preflight *p);

/* One line on stderr for each limit of at least this level; subject: the option that requires it.
 */
void preflight_report_log(const struct preflight *p, const char *subject,
                          enum preflight_level least);

#endif
