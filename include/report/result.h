/* SPDX-License-Identifier: MIT
 * result: reads the output of tcpclient --json, text in, figures out; opens no files.  json-c,
 * which parses it, keeps 64-bit integers such as seeds intact. */
#ifndef TCPSCALER_REPORT_RESULT_H
#define TCPSCALER_REPORT_RESULT_H

#include "measure/latency.h"

#include <stdbool.h>
#include <stddef.h>

#define RESULT_ERROR_BYTES 200
#define RESULT_SCHEMA      1

/* Objects and arrays of a file: a week of tcpreport watch has 600,000. */
#define RESULT_MOST_PARTS 1000000

struct json_object;

/* Best first. */
enum result_verdict { RESULT_VALID, RESULT_SUSPECT, RESULT_INVALID };

/* Parses an object of schema 1 by tcpclient or tcpreport merge that has the counts, verdict and
 * start that all commands need; NULL with a reason in error otherwise.  `text` has a NUL after its
 * n_bytes. Free with result_free(). */
struct json_object *result_parse(const char *text, size_t n_bytes, char error[RESULT_ERROR_BYTES]);
void result_free(struct json_object *result);

/* The same of any JSON value but null, with at most RESULT_MOST_PARTS objects and arrays. */
struct json_object *result_parse_any(const char *text, size_t n_bytes,
                                     char error[RESULT_ERROR_BYTES]);

/* Sets a key of the object, which becomes the owner of the value.  Returns 0, or -1 with the value
 * still the caller's. */
int result_set(struct json_object *result, const char *key, struct json_object *value);

/* Makes result_text() write each element of an array, itself an array or an object, on one line. */
void result_put_rows_on_lines(struct json_object *result, const char *path);

/* Whether the value at `path` is true. */
bool result_flag(const struct json_object *result, const char *path);

/* The value at a path such as "queries.sent"; NULL: missing or null.  Borrowed. */
struct json_object *result_find(const struct json_object *result, const char *path);

/* Whether it is of one or more capacity searches. */
bool result_is_search(const struct json_object *result);

/* The unit of the capacities of a result, or of a sweep, such as "q/s"; NULL: unknown, or it has
 * none. */
const char *result_capacity_unit(const struct json_object *result);
const char *result_sweep_unit(const struct json_object *sweep);

/* Whether it is of a listener (--protocol listen), which receives messages and sends no queries. */
bool result_is_of_listener(const struct json_object *result);

/* False, with the value untouched: missing, null, or of another type; negative (u64), or not finite
 * (double). */
bool result_u64(const struct json_object *result, const char *path, uint64_t *value);
bool result_double(const struct json_object *result, const char *path, double *value);

/* A string, borrowed; NULL: missing or null. */
const char *result_string(const struct json_object *result, const char *path);

/* A value as indented JSON; "null" if missing.  Valid until the next call. */
const char *result_text(const struct json_object *result, const char *path);

/* The time of a string such as "2026-01-31T23:59:59.123Z", in ns since the epoch; 0: it is none. */
uint64_t result_time_ns(const struct json_object *result, const char *path);

/* The i-th string of an array, borrowed; NULL: none. */
const char *result_item(const struct json_object *result, const char *path, unsigned i);

/* The i-th element of an array, borrowed; NULL: none, or null. */
const struct json_object *result_element(const struct json_object *result, const char *path,
                                         size_t i);

/* Calls back for every key of the object; for none if it is not an object. */
void result_each_key(const struct json_object *result, void (*each)(void *arg, const char *key),
                     void *arg);

/* _latency: the figures of a metric; false: none, or they are beyond all bounds.  _each_metric:
 * calls back for every metric that has any. */
bool result_latency(const struct json_object *result, const char *metric, struct latency *l);
void result_each_metric(const struct json_object *result,
                        void (*each)(void *arg, const char *name, const struct latency *l),
                        void *arg);

/* INVALID if counts do not add up, SUSPECT if otherwise not VALID. */
enum result_verdict result_verdict(const struct json_object *result);
const char *result_verdict_name(enum result_verdict verdict);
bool result_was_interrupted(const struct json_object *result);

/* When the measurement began and ended, since the epoch; of a run that does not say when it began:
 * its start, and about the time of its last due query. */
void result_span(const struct json_object *result, uint64_t *begin_ns, uint64_t *end_ns);

/* How long the measured queries took to send: the measurement, or longer if sending could not keep
 * the schedule.  Of merged runs, such that the rates sent add up.  0: unknown. */
double result_sending_s(const struct json_object *result);

/* The path of the number of connections requested, on demand or from the start. */
const char *result_connections_requested(const struct json_object *result);

/* The timeout: the least that an unanswered query took; 0: unknown. */
uint64_t result_timeout_ns(const struct json_object *result);

/* The same of a metric: LATENCY_NEVER for connections that did not get there and lost messages. */
uint64_t result_timeout_of_ns(const struct json_object *result, const char *metric);

#endif
