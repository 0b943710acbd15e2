/* SPDX-License-Identifier: MIT
 * plot_script: parts of gnuplot scripts that every picture needs: quoted text, data.  Pure except
 * for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_SCRIPT_H
#define TCPSCALER_REPORT_PLOT_SCRIPT_H

#include "report/connections.h"
#include "report/metrics.h"

#include <stdbool.h>
#include <stdio.h>

struct json_object;

struct recording;

/* Prints the text in gnuplot's single quotes, whose only escape is a doubled quote, with '?' for
 * bytes that are not UTF-8, and for characters that a terminal would interpret or that XML does not
 * allow. */
void plot_script_quote(FILE *out, const char *text);

/* Prints the label of an axis as gnuplot's string, "WHAT, UNIT"; unit NULL: unknown. */
void plot_script_label(FILE *out, const char *what, const char *unit);

/* Lines "rarity seconds": of n queries, one in `rarity` is slower than this.  At most one line per
 * bucket and per visible step; the first is the minimum, the last the maximum.  The metric has
 * counts and values. */
void plot_script_distribution(FILE *out, const struct metric *m);

/* Whether its curve has only a point: that of a single value. */
bool plot_script_is_point(const struct metric *m);

/* Lines "seconds connections": established connections since the first connect, at most
 * about most_points (> 0) of them.  There is at least one. */
void plot_script_ramp(FILE *out, const struct recording *r, size_t most_points);

/* Lines "seconds connections": connections lost, or back, since the first one was lost, at most
 * about most_points (> 0) of them.  At least one was lost.  Returns the seconds until the end of
 * both curves. */
double plot_script_recovery(FILE *out, const struct recording *r, size_t most_points,
                            enum connections_column column);

/* The values of a logarithmic axis; zeroed: none yet. */
struct plot_extent {
    double low, high;
};

void plot_extent_add(struct plot_extent *e, double value);

/* Adds the minimum and the maximum of a metric, which has values, in seconds. */
void plot_extent_add_metric(struct plot_extent *e, const struct metric *m);

/* Sets the range of axis 'x' or 'y' if all its values are equal, as gnuplot warns of an empty one:
 * to whole powers of ten, where a logarithmic axis has its numbers. */
void plot_script_extent(FILE *out, char axis, const struct plot_extent *e);

/* Draws a vertical line at a bound of a search, "lower" or "upper", if it is known, and adds it to
 * the loads. */
void plot_script_bound(FILE *out, const struct json_object *search, const char *bound,
                       const char *style, struct plot_extent *loads);

/* Prints the block $reach, to be plotted as PLOT_SCRIPT_REACH: points without a mark at the lowest
 * and the highest load.  gnuplot does not draw lines beyond the ends of an axis, and there may be
 * no time at a bound. */
void plot_script_reach(FILE *out, const struct plot_extent *loads, const struct plot_extent *times);

#define PLOT_SCRIPT_REACH "$reach using 1:2:('') with labels notitle"

/* Prints a line "value capacity lower upper above below between" for each search of a sweep.
 * capacity is nan without an answer; lower and upper equal it where they are unknown; above is the
 * lower bound of a search without an upper one, below the upper bound of one without a lower one,
 * between the geometric mean of both bounds of one without an answer, else nan.
 * Adds the values to *extent.  Returns the number of searches with an answer or a bound.  out,
 * extent NULL: not wanted. */
size_t plot_script_sweep(FILE *out, const struct json_object *sweep, struct plot_extent *extent);

#endif
