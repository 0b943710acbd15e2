/* SPDX-License-Identifier: MIT
 * plot_sweep: the picture of sweeps of capacity searches.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_SWEEP_H
#define TCPSCALER_REPORT_PLOT_SWEEP_H

#include "report/plot_head.h"

#include <stdbool.h>
#include <stdio.h>

struct recording;
struct recordings;

/* Whether all runs are sweeps. */
bool plot_sweep_are_all(const struct recordings *all);

/* Whether a search of the run's sweep has an answer or a bound. */
bool plot_sweep_has_points(const struct recording *r);

/* Whether the sweeps vary the same option and their searches have the same unit. */
bool plot_sweep_fit(const struct recordings *all);

/* Capacity over the values of a sweep, a curve for each run.  The bars are the bounds; a search
 * without an answer has its bounds, and no point on the curve; an arrow says that only a lower or
 * only an upper bound is known.  Curves are shifted a little so that their bars do not hide each
 * other. */
void plot_sweep_print(FILE *out, const struct recordings *all, enum plot_form form);

#endif
