/* SPDX-License-Identifier: MIT
 * run_group: the VALID runs of one side of a comparison and their values of every metric.  Reads
 * files. */
#ifndef TCPSCALER_REPORT_RUN_GROUP_H
#define TCPSCALER_REPORT_RUN_GROUP_H

#include "report/recordings.h"

#include <stdbool.h>
#include <stddef.h>

struct run_metric {
    const char *name, *metric;
    const char *percentile; /* NULL: the capacity, or the share of scheduled queries answered,
                             * where less is worse */
    double least_share;     /* smaller changes do not matter */
    bool of_search;         /* only runs with --find have it, and no other metric */
};

enum { RUN_METRICS = 8 };

extern const struct run_metric run_metrics[RUN_METRICS];

struct run_group {
    struct recordings all;
    const struct recording **valid; /* in the order of the files */
    size_t n_valid;
};

/* Reads the files and reports the runs it ignores.  Returns 0, or -1 after one line on stderr.
 * Free it in either case. */
int run_group_load(struct run_group *g, char **files, int n_files);

/* Likewise, but ignores runs with a bad file, too. */
int run_group_load_good(struct run_group *g, char **files, int n_files);
void run_group_free(struct run_group *g);

/* Moves the VALID runs of each directory together: directories are in the order of their first
 * runs. */
void run_group_by_directory(struct run_group *g);

/* Returns the number of VALID runs, from `at` on, that are in the directory of the one at `at`. */
size_t run_group_n_in_directory(const struct run_group *g, size_t at);

/* Compares settings and host of every VALID run with those of `first`.  Returns 0, or -1 after one
 * line on stderr about the first run that differs. */
int run_group_check(const struct recording *first, const struct run_group *g);

/* Returns the number of searches that found no limit within their range ("at-least"). */
size_t run_group_n_at_least(const struct run_group *g);

/* Whether the first VALID run is a capacity search; false if there is none. */
bool run_group_is_of_searches(const struct run_group *g);

/* Whether the capacities of all VALID runs are in the same unit as that of `first`. */
bool run_group_has_unit(const struct recording *first, const struct run_group *g);

/* Finite, from 0 to below 1e18.  False: the run has no such value.  A percentile among the
 * unanswered is the timeout of queries; there is none if that is unknown, and for connections and
 * messages, which time out otherwise. */
bool run_metric_value(const struct json_object *result, const struct run_metric *row,
                      double *value);

/* Whether runs say if this metric holds, as they do for those that the verdict judges. */
bool run_metric_is_judged(const struct run_metric *row);

/* False: the run says that this percentile includes its host's own delays. */
bool run_metric_holds(const struct json_object *result, const struct run_metric *row);

#endif
