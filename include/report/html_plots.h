/* SPDX-License-Identifier: MIT
 * html_plots: gnuplot scripts of the pictures of a page.  Unlike those of plot, they have no
 * background and no black: the page sets the colours, light or dark.  They contain no foreign text.
 * Pure except for the stream. */
#ifndef TCPSCALER_REPORT_HTML_PLOTS_H
#define TCPSCALER_REPORT_HTML_PLOTS_H

#include "measure/watch_series.h"
#include "report/history.h"
#include "report/metrics.h"

#include <stdbool.h>
#include <stdio.h>

struct json_object;
struct recordings;

/* The metrics of the picture by percentile, in its order. */
#define HTML_PLOTS_METRICS 3
extern const char *const html_plots_metrics[HTML_PLOTS_METRICS];

/* Whether a metric has a curve: counts of more than one value. */
bool html_plots_has_curve(const struct metrics *metrics, const char *name);

/* Requires at least one metric with a curve. */
void html_plots_percentiles(FILE *out, const struct metrics *metrics);

/* Whether answers are in more than one row and column. */
bool html_plots_has_heat_map(const struct history *history);

/* Response times over time as a heat map, with percentiles. */
void html_plots_heat_map(FILE *out, const struct history *history);

/* Whether a column is long enough for a rate. */
bool html_plots_has_rates(const struct history *history);

/* Queries per second over time; requested_qps 0: not a constant, or unknown. */
void html_plots_rates(FILE *out, const struct history *history, double requested_qps);

/* Messages received per second over time. */
void html_plots_message_rate(FILE *out, const struct history *history);

/* Whether at least two trials of a capacity search have times. */
bool html_plots_has_trials(const struct json_object *search);

/* The p50 and p99 of these trials by their load, with the bounds of the capacity. */
void html_plots_trials(FILE *out, const struct json_object *search);

/* Whether at least two samples have this figure and the number of connections. */
bool html_plots_has_memory(const struct watch_series *samples, enum watch_figure user);

/* Memory by number of connections.  Requires at least one known kind of memory. */
void html_plots_memory(FILE *out, const struct watch_series *samples, enum watch_figure user);

/* Whether two samples are far enough apart. */
bool html_plots_has_cpu(const struct watch_series *samples);

/* CPUs busy over time.  Requires such samples. */
void html_plots_cpu(FILE *out, const struct watch_series *samples);

/* Whether at least two searches of a sweep have a capacity, or both bounds of it. */
bool html_plots_has_sweep(const struct json_object *sweep);

/* Their capacities by the value of the sweep, with the bounds, also of searches without an answer.
 */
void html_plots_sweep(FILE *out, const struct json_object *sweep);

/* Whether each run has the times of its connections, or of those that it lost. */
bool html_plots_has_ramp(const struct recordings *all);
bool html_plots_has_recovery(const struct recordings *all);

/* Whether a ramp would show when connections were replaced, not when the first ones were opened. */
bool html_plots_ramp_misleads(const struct recordings *all);

/* Established connections over time, one curve per run. */
void html_plots_ramp(FILE *out, const struct recordings *all);

/* Connections lost, and back, over time, two curves per run. */
void html_plots_recovery(FILE *out, const struct recordings *all);

#endif
