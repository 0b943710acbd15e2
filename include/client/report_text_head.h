/* SPDX-License-Identifier: MIT
 * report_text_head: the first lines of the summary: what was run.  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_TEXT_HEAD_H
#define TCPSCALER_CLIENT_REPORT_TEXT_HEAD_H

#include "client/report.h"
#include "client/result.h"

#include <stdio.h>

/* Formats the requested rate, in UNITS_TEXT_BYTES: as given or, if it is a mean, to the tenth. */
const char *report_text_head_rate(char *text, const struct report_about *about,
                                  const struct client_result *r);

void report_text_head(FILE *out, const struct report_about *about, const struct client_result *r);

#endif
