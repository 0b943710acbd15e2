/* SPDX-License-Identifier: MIT
 * html_plots_axes: what the gnuplot scripts of a page begin with.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_HTML_PLOTS_AXES_H
#define TCPSCALER_REPORT_HTML_PLOTS_AXES_H

#include <stdio.h>

#define HTML_PLOTS_WIDTH  480
#define HTML_PLOTS_HEIGHT 320

/* The line types 1 to this number have colours of their own. */
enum { HTML_PLOTS_COLOURS = 3 };

/* The terminal, the labels of the axes, and the black parts, whose colour the page overrides. */
void html_plots_head(FILE *out, const char *name, const char *x, const char *y);

/* An axis from 0 to `most` (> 0) with at most 6 marks, which do not touch. */
void html_plots_x_range(FILE *out, double most);

/* The same for a number of things, in thousands (k) and millions (M). */
void html_plots_x_counts(FILE *out, double most);

/* As html_plots_x_range(), upwards, from 0 to the mark above `most`; or to `least` (> 0) if that is
 * not less, since gnuplot warns of an empty range, also if it is [0:least<*]. */
void html_plots_y_range(FILE *out, double most, double least);

#endif
