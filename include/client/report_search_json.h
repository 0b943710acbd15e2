/* SPDX-License-Identifier: MIT
 * report_search_json: prints a capacity search and all of its trials as JSON. */
#ifndef TCPSCALER_CLIENT_REPORT_SEARCH_JSON_H
#define TCPSCALER_CLIENT_REPORT_SEARCH_JSON_H

#include "base/json.h"
#include "client/find.h"

/* Adds the object "search"; find NULL: null. */
void report_search_json(struct json *j, const struct client_find *find);

#endif
