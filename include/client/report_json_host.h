/* SPDX-License-Identifier: MIT
 * report_json_host: this host, its network and the watched server in the JSON result. */
#ifndef TCPSCALER_CLIENT_REPORT_JSON_HOST_H
#define TCPSCALER_CLIENT_REPORT_JSON_HOST_H

#include "base/json.h"
#include "client/report.h"

/* Each adds one object to the result. */
void report_json_host(struct json *j, const struct report_about *about,
                      const struct client_result *r);
void report_json_sockets(struct json *j, const struct client_result *r);
void report_json_resources(struct json *j, const struct client_result *r);
void report_json_network(struct json *j, const struct client_result *r);
void report_json_cost(struct json *j, const struct client_result *r);

#endif
