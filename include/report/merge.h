/* SPDX-License-Identifier: MIT
 * merge: merges the results of instances that ran in parallel into one.  Counts add; rates (_qps,
 * _per_s) add; times (_s) are the longest, min_ and least_ the smallest, started and measured_from
 * the earliest; ratios, mean_, most_, listen_ and other values that differ, or that describe one
 * process or host, become null; reasons are those of any, the verdict is the worst, a percentile
 * holds if it holds in all that measured something; rates add up for those that sent queries,
 * measured messages, or established connections.  A key that a result lacks counts as null, or as 0
 * in an object that lists only what occurred (outcomes).  Latencies are not merged here but as
 * histograms (metrics.h); they, schema, program, version, proxy and instances are left out.  Pure.
 */
#ifndef TCPSCALER_REPORT_MERGE_H
#define TCPSCALER_REPORT_MERGE_H

struct json_object;

/* The first result, owned by the caller.  NULL: out of memory. */
struct json_object *merge_first(const struct json_object *result);

/* Adds another result.  Returns 0; or -1 if out of memory, with `into` fit only to be freed. */
int merge_add(struct json_object *into, const struct json_object *result);

#endif
