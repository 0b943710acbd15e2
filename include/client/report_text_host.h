/* SPDX-License-Identifier: MIT
 * report_text_host: this host, its network and the outputs in the summary. */
#ifndef TCPSCALER_CLIENT_REPORT_TEXT_HOST_H
#define TCPSCALER_CLIENT_REPORT_TEXT_HOST_H

#include "client/report.h"

#include <stdio.h>

/* Each prints its lines, or nothing if there is nothing to report. */
void report_text_diagnosis(FILE *out, const struct client_result *r);
void report_text_host(FILE *out, const struct client_result *r);
void report_text_network(FILE *out, const struct client_result *r);
void report_text_output(FILE *out, const struct client_result *r);
void report_text_start(FILE *out, const struct client_start *start);

#endif
