/* SPDX-License-Identifier: MIT
 * report_search: prints a capacity search: the result as text, the result and all trials as JSON,
 * the trials as CSV.  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_SEARCH_H
#define TCPSCALER_CLIENT_REPORT_SEARCH_H

#include "base/json.h"
#include "client/find.h"

#include <stdio.h>

/* find NULL: prints nothing. */
void report_search_text(FILE *out, const struct client_find *find);

/* find NULL: prints null. */
void report_search_json(struct json *j, const struct client_find *find);

/* Prints a header, and a row per trial (docs/result.md). */
void report_search_csv(FILE *out, const struct client_find *find);

#endif
