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

/* Print the header of a table of trials, and a row per trial (docs/result.md).  at: the value of
 * the sweep; 0: none. */
void report_search_csv_header(FILE *out);
void report_search_csv(FILE *out, const struct client_find *find, uint64_t at);

/* Returns the middle of the bounds in the logarithm, or the only bound; 0: no result. */
double report_search_capacity(const struct search *s);

/* Returns the goal that decided the smallest upper bound, or why void trials ended the search;
 * NULL: none. */
const char *report_search_binding(const struct client_find *f);

/* Returns the unit of loads. */
const char *report_search_unit(const struct client_find *f);

#endif
