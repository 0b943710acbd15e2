/* SPDX-License-Identifier: MIT
 * report_demand: the part of the reports about connections on demand. */
#ifndef TCPSCALER_CLIENT_REPORT_DEMAND_H
#define TCPSCALER_CLIENT_REPORT_DEMAND_H

#include "base/json.h"
#include "client/report.h"

#include <stdio.h>

/* Prints nothing if connections are not opened on demand. */
void report_demand_text(FILE *out, const struct report_about *about, const struct client_result *r);

/* Prints the key "on_demand"; null if connections are not opened on demand. */
void report_demand_json(struct json *j, const struct report_about *about,
                        const struct client_result *r);

#endif
