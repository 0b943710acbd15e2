/* SPDX-License-Identifier: MIT
 * report_text_latency: the table of times in the summary, with what its rows mean. */
#ifndef TCPSCALER_CLIENT_REPORT_TEXT_LATENCY_H
#define TCPSCALER_CLIENT_REPORT_TEXT_LATENCY_H

#include "client/report.h"

#include <stdio.h>

/* Prints nothing if no time was measured. */
void report_text_latency(FILE *out, const struct report_about *about,
                         const struct client_result *r);

#endif
