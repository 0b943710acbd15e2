/* SPDX-License-Identifier: MIT
 * recordings: the runs whose files are given.  Files that share a name except for the extension
 * belong to one run. */
#ifndef TCPSCALER_REPORT_RECORDINGS_H
#define TCPSCALER_REPORT_RECORDINGS_H

#include "report/recording.h"
#include "report/timeline.h"

#include <stddef.h>

struct recordings {
    struct recording *items; /* in the order of the files */
    size_t n;
};

/* Reads the files.  Returns 0; or -1 after one line on stderr, about the first file that
 * recording_read() refuses or the first run that recording_learn() refuses.  Free in either case.
 */
int recordings_load(struct recordings *all, char *const *paths, size_t n_paths);

/* Likewise, but leaves out the intervals of the logs: those of a day need hundreds of megabytes. */
int recordings_load_totals(struct recordings *all, char *const *paths, size_t n_paths);

/* Likewise, but keeps only the results: the histograms of thousands of runs need gigabytes. */
int recordings_load_results(struct recordings *all, char *const *paths, size_t n_paths);

/* Likewise, but leaves out each run that is refused, after one line about why and one about the
 * run.  Returns 0, or -1 after one line if out of memory. */
int recordings_load_good_results(struct recordings *all, char *const *paths, size_t n_paths);
void recordings_free(struct recordings *all);

/* Checks that each run has a result.  Returns 0, or -1 after one line on stderr, which begins with
 * `purpose`, such as "--json: ", or "". */
int recordings_need_results(const struct recordings *all, const char *purpose);

/* Gets the intervals of all logs, sorted.  Returns 0, or -1 if out of memory.  Free the timeline in
 * either case, before the recordings: they share the text. */
int recordings_timeline(const struct recordings *all, struct timeline *timeline);

#endif
