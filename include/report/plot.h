/* SPDX-License-Identifier: MIT
 * plot: runs as scripts of gnuplot, data included.  Pure but for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_H
#define TCPSCALER_REPORT_PLOT_H

#include <stdio.h>

struct recordings;

/* In the order of the option's choices. */
enum plot_kind { PLOT_LATENCY, PLOT_TIME, PLOT_CONNECT, PLOT_RATE };
#define PLOT_KINDS "latency|time|connect|rate"

enum plot_form { PLOT_PNG, PLOT_SVG, PLOT_TERM };

/* What a picture needs and the runs do not have: a text for the user with the run's name behind it;
 * NULL: nothing. */
const char *plot_lacks(const struct recordings *all, enum plot_kind kind, const char *metric,
                       const char **name);

/* The script of a picture that lacks nothing.  Write errors stay in the stream.  Returns 0, or -1
 * without memory. */
int plot_print(FILE *script, const struct recordings *all, enum plot_kind kind, const char *metric,
               enum plot_form form);

#endif
