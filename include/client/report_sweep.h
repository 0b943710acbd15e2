/* SPDX-License-Identifier: MIT
 * report_sweep: prints the capacity searches of a run: a single one (client/report_search_*.h), or
 * those of --sweep with a table of their answers.  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_SWEEP_H
#define TCPSCALER_CLIENT_REPORT_SWEEP_H

#include "base/json.h"
#include "client/sweep.h"

#include <stdio.h>

/* sweep NULL: prints nothing. */
void report_sweep_text(FILE *out, const struct client_sweep *sweep);

/* Prints the keys "search" and "sweep", at least one of which is null. */
void report_sweep_json(struct json *j, const struct client_sweep *sweep);

/* Print a header, and a row per trial of every search, or per search (docs/result.md). */
void report_sweep_trials_csv(FILE *out, const struct client_sweep *sweep);
void report_sweep_csv(FILE *out, const struct client_sweep *sweep);

#endif
