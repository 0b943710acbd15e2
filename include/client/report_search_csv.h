/* SPDX-License-Identifier: MIT
 * report_search_csv: prints the trials of a capacity search as CSV. */
#ifndef TCPSCALER_CLIENT_REPORT_SEARCH_CSV_H
#define TCPSCALER_CLIENT_REPORT_SEARCH_CSV_H

#include "client/find.h"

#include <stdio.h>

/* Print the header of a table of trials, and a row per trial (docs/result.md).  at: the value of
 * the sweep; 0: none. */
void report_search_csv_header(FILE *out);
void report_search_csv(FILE *out, const struct client_find *find, uint64_t at);

#endif
