/* SPDX-License-Identifier: MIT
 * result: reads the output of tcpclient --json, text in, values out; opens no files.  json-c
 * parses it, and keeps 64-bit integers such as seeds intact. */
#ifndef TCPSCALER_REPORT_RESULT_H
#define TCPSCALER_REPORT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_ERROR_BYTES 200
#define RESULT_SCHEMA      1

/* Objects and arrays of a file: a week of tcpreport watch has 600,000. */
#define RESULT_MOST_PARTS 1000000

struct json_object;

/* Parses an object of schema 1 by tcpclient or tcpreport merge that has the counts, verdict and
 * start that all commands need; NULL with a reason in error otherwise.  `text` has a NUL after its
 * n_bytes. Free with result_free(). */
struct json_object *result_parse(const char *text, size_t n_bytes, char error[RESULT_ERROR_BYTES]);
void result_free(struct json_object *result);

/* The same for any JSON value but null, with at most RESULT_MOST_PARTS objects and arrays. */
struct json_object *result_parse_any(const char *text, size_t n_bytes,
                                     char error[RESULT_ERROR_BYTES]);

/* Sets a key of the object, which becomes the owner of the value.  Returns 0, or -1 with the value
 * still the caller's. */
int result_set(struct json_object *result, const char *key, struct json_object *value);

/* Makes result_text() write each element of an array, itself an array or an object, on one line,
 * which is not indented. */
void result_put_rows_on_lines(struct json_object *result, const char *path);

/* Whether the value at `path` is true. */
bool result_flag(const struct json_object *result, const char *path);

/* The value at a path such as "queries.sent"; NULL: missing or null.  Borrowed. */
struct json_object *result_find(const struct json_object *result, const char *path);

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

#endif
