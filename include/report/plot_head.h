/* SPDX-License-Identifier: MIT
 * plot_head: what the scripts of all pictures share: terminal, colours, axes of time, and curves of
 * the runs.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLOT_HEAD_H
#define TCPSCALER_REPORT_PLOT_HEAD_H

#include <stddef.h>
#include <stdio.h>

struct recording;
struct recordings;

enum plot_form { PLOT_PNG, PLOT_SVG, PLOT_TERM };

/* title: without single quotes. */
void plot_head(FILE *out, enum plot_form form, const char *title);

/* Where the names of the runs are: beside the frame, or below it if they do not fit. */
void plot_key(FILE *out, enum plot_form form, const struct recordings *all);

/* The name of a run as a string of gnuplot; of a long one, which may be a path, its end. */
void plot_name(FILE *out, const struct recording *run);

/* A logarithmic axis y of seconds, as us, ms, s. */
void plot_time_axis(FILE *out, enum plot_form form, const char *metric);

/* "plot BLOCK STYLE title NAME" over the block of run i, $d0, $d1, ...; after the first run the
 * command goes on. */
void plot_block(FILE *out, const struct recordings *all, size_t i, const char *style);

/* "plot BLOCK using ... title NAME, ..." over the blocks $d0, $d1, ..., one for each run. */
void plot_blocks(FILE *out, const struct recordings *all, const char *style);

#endif
