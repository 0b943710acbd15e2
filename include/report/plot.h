/* SPDX-License-Identifier: MIT
 * plot: writes gnuplot scripts for runs, data included.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_H
#define TCPSCALER_REPORT_PLOT_H

#include "report/plot_head.h"

#include <stdio.h>

struct recordings;

/* In the order of the option's choices. */
enum plot_kind { PLOT_LATENCY, PLOT_TIME, PLOT_CONNECT, PLOT_RATE, PLOT_CAPACITY, PLOT_RECOVERY };
#define PLOT_KINDS "latency|time|connect|rate|capacity|recovery"

/* Copies the runs to draw into drawn->items, which has room for all of them and shares everything
 * with them.  A run whose files have nothing to draw, as when it measured nothing, is left out and
 * reported, unless no run has anything. */
void plot_select(struct recordings *drawn, const struct recordings *all, enum plot_kind kind,
                 const char *metric, void (*left_out)(const char *name, const char *why));

/* Checks whether the runs have the data for a plot.  Returns a message, with the run's name in
 * *name; NULL if nothing is missing. */
const char *plot_lacks(const struct recordings *all, enum plot_kind kind, const char *metric,
                       const char **name);

/* Writes the script of a plot that lacks nothing.  Write errors stay in the stream.  Returns 0, or
 * -1 if out of memory. */
int plot_print(FILE *script, const struct recordings *all, enum plot_kind kind, const char *metric,
               enum plot_form form);

#endif
