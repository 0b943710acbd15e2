/* SPDX-License-Identifier: MIT
 * report_servers: the part of the reports about the servers of --server-control. */
#ifndef TCPSCALER_CLIENT_REPORT_SERVERS_H
#define TCPSCALER_CLIENT_REPORT_SERVERS_H

#include "base/json.h"
#include "client/result.h"

#include <stdio.h>

/* Prints nothing if no server's counts are known. */
void report_servers_text(FILE *out, const struct client_result *r);

/* Prints the key "server"; null in the same case, and during the run. */
void report_servers_json(struct json *j, const struct client_result *r);

#endif
