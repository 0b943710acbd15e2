/* SPDX-License-Identifier: MIT
 * slope: a straight line through points by ordinary least squares, and how precisely its slope is
 * known: N. R. Draper and H. Smith, "Applied Regression Analysis", 3rd edition, sections 1.3 and
 * 1.4.  Pure.
 *
 * The interval assumes independent errors.  Memory grows in steps, whose errors are not quite
 * independent: the interval is a lower bound of the uncertainty. */
#ifndef TCPSCALER_MEASURE_SLOPE_H
#define TCPSCALER_MEASURE_SLOPE_H

#include <stddef.h>

/* The risk that the true slope is outside the interval: 5 %. */
#define SLOPE_RISK 0.05

struct slope {
    size_t n;         /* points; 0: no slope, the other fields are NAN */
    double per_x;     /* the slope, y per x */
    double low, high; /* its confidence interval; NAN with 2 points */
};

/* Points are added one by one.  Zero-initialize. */
struct slope_points {
    size_t n;
    double first_x, first_y; /* sums are of differences to it, which keeps their precision */
    double x, y, xx, xy, yy;
};

void slope_add(struct slope_points *points, double x, double y);

/* No slope if fewer than 2 different x.  Each y is known to a multiple of step (0: exactly), which
 * adds an error of step / sqrt(12), even where the points are on a line. */
struct slope slope_of(const struct slope_points *points, double step);

#endif
