/* SPDX-License-Identifier: MIT
 * plot_marks: where the axes of pictures have their marks.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_MARKS_H
#define TCPSCALER_REPORT_PLOT_MARKS_H

#include <stdio.h>

/* Returns the distance between the marks of an axis from 0 to `most` (> 0); there are at most 6
 * marks. */
double plot_marks_step(double most);

/* Prints ", 'NUMBER' POSITION" for a mark, in thousands (k) and millions (M). */
void plot_marks_print(FILE *out, double number);

/* A logarithmic axis x of numbers from `low` to `high`, with 2 to 8 marks if they are within
 * reason; gnuplot chooses those of a range that begins at 0. */
void plot_marks_loads(FILE *out, double low, double high);

#endif
