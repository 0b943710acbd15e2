/* SPDX-License-Identifier: MIT
 * report_transport: prints what the transport counted: TLS handshakes, the clients that PROXY
 * headers named, datagrams that were lost here or are no answers. */
#ifndef TCPSCALER_CLIENT_REPORT_TRANSPORT_H
#define TCPSCALER_CLIENT_REPORT_TRANSPORT_H

#include "base/json.h"
#include "client/report.h"

#include <stdio.h>

/* A line for each of these that is used. */
void report_transport_text(FILE *out, const struct report_about *about,
                           const struct client_result *r);

/* The keys `tls`, `proxy` and `udp`; null if not used. */
void report_transport_json(struct json *j, const struct report_about *about,
                           const struct client_result *r);

#endif
