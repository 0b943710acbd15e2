/* SPDX-License-Identifier: MIT
 * report_search_text: prints the result of a capacity search, and a line per trial, as text. */
#ifndef TCPSCALER_CLIENT_REPORT_SEARCH_TEXT_H
#define TCPSCALER_CLIENT_REPORT_SEARCH_TEXT_H

#include "client/find.h"

#include <stdbool.h>
#include <stdio.h>

/* find NULL: prints nothing. */
void report_search_text(FILE *out, const struct client_find *find);

/* Whether a smaller MIN helps a search, because no time would suffice to confirm even the start of
 * its range. */
bool report_search_text_needs_smaller_min(const struct client_find *find);

/* Prints why a search is inconclusive and what helps, without a newline. */
void report_search_text_why(FILE *out, const struct client_find *find);

#endif
