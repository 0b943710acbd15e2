/* SPDX-License-Identifier: MIT
 * merge: the results of instances that ran side by side as one.  Counts add; rates (_qps, _per_s)
 * add; times (_s) are the longest; what is no count and differs, and what is about one process or
 * host, becomes null; reasons are those of any, the verdict is the worst, a
 * percentile holds where it does in all.  Latencies are not
 * merged here: histograms are (report/metrics.h); they and what names the program are left out.
 * Pure. */
#ifndef TCPSCALER_REPORT_MERGE_H
#define TCPSCALER_REPORT_MERGE_H

struct json_object;

/* A result to begin with; the caller's.  NULL: no memory. */
struct json_object *merge_first(const struct json_object *result);

/* Adds another one.  Returns 0, or -1 without memory and `into` fit to be freed only. */
int merge_add(struct json_object *into, const struct json_object *result);

#endif
