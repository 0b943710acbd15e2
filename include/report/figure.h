/* SPDX-License-Identifier: MIT
 * figure: the figures of a result as text, with separators and units.  Unless stated otherwise,
 * each function returns the text, in the caller's buffer of FIGURE_TEXT_BYTES or as a constant; or
 * NULL if the figure is unknown.  Pure. */
#ifndef TCPSCALER_REPORT_FIGURE_H
#define TCPSCALER_REPORT_FIGURE_H

#include <stdint.h>

#define FIGURE_TEXT_BYTES    48
#define FIGURE_FINDING_BYTES 200

struct json_object;

/* "1,234" */
const char *figure_count(char *text, const struct json_object *result, const char *path);

/* A number, with a fraction below 1,000: "12,345", "99.5" */
const char *figure_number(char *text, double value);
const char *figure_value(char *text, const struct json_object *result, const char *path);

/* A number at a path with the unit of a search: "12,345 q/s", "1 connection" */
const char *figure_load(char *text, const struct json_object *search, const struct json_object *of,
                        const char *path);

/* "12,345 q/s" */
const char *figure_per_s(char *text, double qps);
const char *figure_rate(char *text, const struct json_object *result, const char *path);

/* The requested rate, as the summary of tcpclient has it: "307.7", the mean of a schedule, or the
 * rate as it was given. */
const char *figure_requested(char *text, const struct json_object *result);

/* A number of seconds: "12.0 s" */
const char *figure_seconds(char *text, const struct json_object *result, const char *path);

/* A number of bytes: "7.65 MiB" */
const char *figure_bytes(char *text, const struct json_object *result, const char *path);

/* A time as in struct latency; among the unanswered it is ">200 ms", more than timeout_ns, "never"
 * with LATENCY_NEVER, and "unanswered" with 0. */
const char *figure_latency(char *text, uint64_t ns, uint64_t timeout_ns);

/* The response time of a trial of a search at a percentile, num / den, whose key is path: "1.50
 * ms", or ">200 ms", more than timeout_ns, if it falls among unanswered queries: then the trial had
 * enough queries for the percentile, but it has no value.  With 0, which is unknown, ">timeout". */
const char *figure_trial_latency(char *text, const struct json_object *trial, const char *path,
                                 uint32_t num, uint32_t den, uint64_t timeout_ns);

/* How connections or queries ended, of a key "phase/reason": "receive: half-open", as the summary
 * of tcpclient has it.  Never returns NULL. */
const char *figure_outcome(char *text, const char *key);

/* "bad: p99<10ms": a finding and its reason, which may be NULL.  Never returns NULL. */
const char *figure_finding(char text[FIGURE_FINDING_BYTES], const char *finding,
                           const char *reason);

/* The status of a search with its reason and what limited it: "found: p99<10ms", "inconclusive,
 * unconfirmed: p99<10ms", "not reached" (NULL).  Never returns NULL. */
const char *figure_answer(char text[FIGURE_FINDING_BYTES], const struct json_object *search);

/* Why a search has no answer, in words if the reason is known here: "no connection became usable",
 * "stopped".  Returns NULL if the search does not say. */
const char *figure_reason(const struct json_object *search);

/* Why a search with an answer ended early, in words: "time ran out".  Returns NULL if it did not.
 */
const char *figure_cut(const struct json_object *search);

/* Returns the limiting factor of a search: "the accept queue overflowed"; NULL if nothing is known,
 * or only that it was the server, or this host. */
const char *figure_bound(const struct json_object *search);

/* A change in percent, rounded to this number of decimals; never -0, which "%+.2f" would print. */
double figure_change(double share, int n_decimals);

/* "99.4882 %" of the scheduled queries were answered. */
const char *figure_answered(char *text, const struct json_object *result);

#endif
