/* SPDX-License-Identifier: MIT
 * same_run: whether several recordings contain a run twice, as itself, as a copy or as an instance
 * of a merged result.  Pure. */
#ifndef TCPSCALER_REPORT_SAME_RUN_H
#define TCPSCALER_REPORT_SAME_RUN_H

#include "report/recordings.h"

/* Finds two recordings that have a run in common: with the same start, seed, and number and
 * extremes of response times.  Runs without a result or without response times are ignored.
 * Returns 1 and their numbers, the lower one in *a; 0 if there are none; -1 if out of memory. */
int same_run_find(const struct recordings *all, size_t *a, size_t *b);

#endif
