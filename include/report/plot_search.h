/* SPDX-License-Identifier: MIT
 * plot_search: the picture of the trials of capacity searches.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_SEARCH_H
#define TCPSCALER_REPORT_PLOT_SEARCH_H

#include "report/plot_head.h"

#include <stdbool.h>
#include <stdio.h>

struct recording;
struct recordings;

/* Whether a run has trials with a p99. */
bool plot_search_has_trials(const struct recording *r);

/* Whether all searches have the same unit: they fit on one axis. */
bool plot_search_fit(const struct recordings *all);

/* The p99 of each trial over its load, with the bounds as vertical lines. */
void plot_search_trials(FILE *out, const struct recordings *all, enum plot_form form);

#endif
