/* SPDX-License-Identifier: MIT
 * json: writes one JSON value to a stdio stream (RFC 8259).  Pure except for the stream.
 *
 * It places commas, indentation and quotes; the caller balances begin and end (asserted).  Numbers
 * ignore the locale; a double that is not finite becomes null.  In strings, U+FFFD replaces each
 * byte that is not UTF-8.  A key is NULL inside an array and at the top level.  Write errors stay
 * in the stream: the caller checks ferror() and fclose(). */
#ifndef TCPSCALER_BASE_JSON_H
#define TCPSCALER_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16

struct json {
    FILE *out;
    unsigned depth;
    bool first[JSON_DEPTH]; /* nothing yet written at this depth */
};

void json_init(struct json *j, FILE *out);

void json_object_begin(struct json *j, const char *key);
/* Writes null instead if the object does not exist.  Returns `exists`. */
bool json_object_begin_if(struct json *j, const char *key, bool exists);
void json_object_end(struct json *j); /* the outermost one also ends the line */
void json_array_begin(struct json *j, const char *key);
void json_array_end(struct json *j);

void json_string(struct json *j, const char *key, const char *value); /* NULL: null */
void json_u64(struct json *j, const char *key, uint64_t value);
/* null if the value is UINT64_MAX, which means "unknown". */
void json_known_u64(struct json *j, const char *key, uint64_t value);
/* With the fewest significant digits, of 15 to 17, that read back as the same double. */
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Inserts a text that is already a JSON value, with lines indented from 0.  Another program may
 * have written it: bytes that are not UTF-8 are replaced, as in strings. */
void json_raw(struct json *j, const char *key, const char *value);

#endif
