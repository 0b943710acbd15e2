/* SPDX-License-Identifier: MIT
 * mismatch: whether runs are instances of one, which can be added up: they sent different queries,
 * with the same settings, at the same time.  Pure. */
#ifndef TCPSCALER_REPORT_MISMATCH_H
#define TCPSCALER_REPORT_MISMATCH_H

#include "report/recordings.h"

/* Gets a line of text without an end of line. */
typedef void mismatch_say(void *context, const char *text);

/* Reports what does not match, run by run: the same seed as that of an earlier one, or settings or
 * times other than those of the first; then, if there are several runs, the first that is a search.
 * Runs without a result match, and so do the times of a run whose measurement did not begin. */
void mismatch_find(const struct recordings *all, mismatch_say *say, void *context);

#endif
