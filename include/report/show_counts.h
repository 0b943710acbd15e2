/* SPDX-License-Identifier: MIT
 * show_counts: prints the counts and the rate of a result, in the words of tcpclient's summary.
 * Lines that tcpclient prints only if they have something to say are left out likewise, and so are
 * unknown counts. */
#ifndef TCPSCALER_REPORT_SHOW_COUNTS_H
#define TCPSCALER_REPORT_SHOW_COUNTS_H

#include <stdio.h>

struct json_object;

/* Connections, what became of the queries or messages, and the rate. */
void show_counts(FILE *out, const struct json_object *result);

/* What the servers counted (--server-control). */
void show_counts_server(FILE *out, const struct json_object *result);

#endif
