/* SPDX-License-Identifier: MIT
 * result: what tcpclient --json wrote, read again.  Knows no file: text in, figures out.  (Parsing
 * is json-c's: it takes integers of 64 bits, as seeds are, without loss.) */
#ifndef TCPSCALER_REPORT_RESULT_H
#define TCPSCALER_REPORT_RESULT_H

#include "measure/latency.h"

#include <stdbool.h>
#include <stddef.h>

#define RESULT_ERROR_BYTES 200
#define RESULT_SCHEMA      1

struct json_object;

/* Good runs first. */
enum result_verdict { RESULT_VALID, RESULT_SUSPECT, RESULT_INVALID };

/* An object of schema 1 by tcpclient, or by tcpreport merge, with all that is read below; NULL with
 * an error's text otherwise.  To be freed with result_free(). */
struct json_object *result_parse(const char *text, size_t n_bytes, char error[RESULT_ERROR_BYTES]);
void result_free(struct json_object *result);

/* Whether the value at `path` is true. */
bool result_flag(const struct json_object *result, const char *path);

/* The value at "queries.sent"; NULL: not there, or null.  Borrowed. */
struct json_object *result_find(const struct json_object *result, const char *path);

/* False, and the value untouched: not there, null, or of another type. */
bool result_u64(const struct json_object *result, const char *path, uint64_t *value);
bool result_double(const struct json_object *result, const char *path, double *value);

/* A string, borrowed; NULL: not there or null. */
const char *result_string(const struct json_object *result, const char *path);

/* A value as JSON in many lines; "null" where there is none.  Valid until the next call for it. */
const char *result_text(const struct json_object *result, const char *path);

/* The i-th text of an array, borrowed; NULL: there is none. */
const char *result_item(const struct json_object *result, const char *path, unsigned i);

/* Calls back for every key of the outermost object; none when it is no object. */
void result_each_key(const struct json_object *result, void (*each)(void *arg, const char *key),
                     void *arg);

/* The figures of a metric; false: none.  The other one calls back for all that have any. */
bool result_latency(const struct json_object *result, const char *metric, struct latency *l);
void result_each_metric(const struct json_object *result,
                        void (*each)(void *arg, const char *name, const struct latency *l),
                        void *arg);

/* Counts that do not add up are INVALID, all that is not VALID is SUSPECT. */
enum result_verdict result_verdict(const struct json_object *result);
const char *result_verdict_name(enum result_verdict verdict);
bool result_was_interrupted(const struct json_object *result);

/* When the run began and about when its last query was due, since the epoch. */
void result_span(const struct json_object *result, uint64_t *begin_ns, uint64_t *end_ns);

/* The timeout in force: what a query among the unanswered took at least; 0: not known. */
uint64_t result_timeout_ns(const struct json_object *result);

#endif
