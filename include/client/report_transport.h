/* SPDX-License-Identifier: MIT
 * report_transport: prints what came before the queries on each connection: TLS handshakes, and the
 * clients that PROXY headers named. */
#ifndef TCPSCALER_CLIENT_REPORT_TRANSPORT_H
#define TCPSCALER_CLIENT_REPORT_TRANSPORT_H

#include "base/json.h"
#include "client/report.h"

#include <stdio.h>

/* A line for each of the two that is used. */
void report_transport_text(FILE *out, const struct report_about *about,
                           const struct client_result *r);

/* The keys `tls` and `proxy`; null if not used. */
void report_transport_json(struct json *j, const struct report_about *about,
                           const struct client_result *r);

#endif
