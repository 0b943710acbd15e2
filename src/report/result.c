/* SPDX-License-Identifier: MIT
 * result: see report/result.h. */
#include "report/result.h"

#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KEY_BYTES = 64 };

#define MOST_EPOCH_S 1e10 /* in the year 2286; plus the longest run, still within 64 bits */

#define REFUSE(...) (snprintf(error, RESULT_ERROR_BYTES, __VA_ARGS__), NULL)

/* --- access --- */

struct json_object *result_find(const struct json_object *result, const char *path)
{
    struct json_object *at = (struct json_object *)result;
    char key[KEY_BYTES];

    while (at != NULL && *path != '\0') {
        const size_t n = strcspn(path, ".");

        if (n >= sizeof key || !json_object_is_type(at, json_type_object))
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        at = json_object_object_get(at, key);
        path += n + (path[n] == '.');
    }
    return at;
}

bool result_u64(const struct json_object *result, const char *path, uint64_t *value)
{
    const struct json_object *found = result_find(result, path);

    if (!json_object_is_type(found, json_type_int) ||
        (json_object_get_int64(found) < 0 && json_object_get_uint64(found) == 0))
        return false;
    *value = json_object_get_uint64(found);
    return true;
}

bool result_double(const struct json_object *result, const char *path, double *value)
{
    const struct json_object *found = result_find(result, path);

    if (!json_object_is_type(found, json_type_int) && !json_object_is_type(found, json_type_double))
        return false;
    if (!isfinite(json_object_get_double(found)))
        return false;
    *value = json_object_get_double(found);
    return true;
}

const char *result_string(const struct json_object *result, const char *path)
{
    struct json_object *found = result_find(result, path);

    return json_object_is_type(found, json_type_string) ? json_object_get_string(found) : NULL;
}

const char *result_text(const struct json_object *result, const char *path)
{
    struct json_object *found = result_find(result, path);

    return found == NULL
               ? "null"
               : json_object_to_json_string_ext(found, JSON_C_TO_STRING_PRETTY |
                                                           JSON_C_TO_STRING_SPACED |
                                                           JSON_C_TO_STRING_NOSLASHESCAPE);
}

const struct json_object *result_element(const struct json_object *result, const char *path,
                                         size_t i)
{
    struct json_object *array = result_find(result, path);

    return json_object_is_type(array, json_type_array) ? json_object_array_get_idx(array, i) : NULL;
}

const char *result_item(const struct json_object *result, const char *path, unsigned i)
{
    return result_string(result_element(result, path, i), "");
}

void result_each_key(const struct json_object *result, void (*each)(void *arg, const char *key),
                     void *arg)
{
    if (!json_object_is_type(result, json_type_object))
        return;
    json_object_object_foreach((struct json_object *)result, key, value)
    {
        (void)value;
        each(arg, key);
    }
}

bool result_flag(const struct json_object *result, const char *path)
{
    return json_object_get_boolean(result_find(result, path)) != 0;
}

uint64_t result_time_ns(const struct json_object *result, const char *path)
{
    const char *text = result_string(result, path), *end;
    unsigned ms = 0;
    struct tm tm = {0};

    if (text == NULL || (end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)) == NULL)
        return 0;
    (void)sscanf(end, ".%3u", &ms);
    return (uint64_t)fmin(fmax((double)timegm(&tm), 0), MOST_EPOCH_S) * 1000000000u +
           ms * UINT64_C(1000000);
}

/* --- parsing --- */

static int put_row(struct json_object *row, struct printbuf *out, int level, int flags)
{
    const char *text;

    (void)level;
    while (out->bpos > 0 && out->buf[out->bpos - 1] == ' ')
        out->bpos--; /* the indentation of hundreds of rows would be kilobytes */
    json_object_set_serializer(row, NULL, NULL, NULL); /* that of its type */
    text = json_object_to_json_string_ext(
        row, flags & ~(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED));
    printbuf_memappend(out, text, (int)strlen(text));
    json_object_set_serializer(row, put_row, NULL, NULL);
    return 0;
}

void result_put_rows_on_lines(struct json_object *result, const char *path)
{
    struct json_object *row;

    for (size_t i = 0; (row = (struct json_object *)result_element(result, path, i)) != NULL; i++)
        json_object_set_serializer(row, put_row, NULL, NULL);
}

static unsigned line_of(const char *text, size_t offset)
{
    unsigned line = 1;

    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

/* Whether the text has too many objects and arrays: json-c takes up to 800 bytes for each. */
static bool has_too_many(const char *text, size_t n_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < n_bytes; i++)
        n += text[i] == '{' || text[i] == '[';
    return n > RESULT_MOST_PARTS;
}

/* Why json-c returned nothing without an error: it does so when it runs out of memory, too. */
static const char *why_nothing(const char *text)
{
    return text[strspn(text, " \t\r\n")] == 'n' ? "null where an object is expected"
                                                : "out of memory";
}

struct json_object *result_parse_any(const char *text, size_t n_bytes,
                                     char error[RESULT_ERROR_BYTES])
{
    struct json_tokener *tokener;
    struct json_object *found;
    size_t end;

    if (n_bytes > INT_MAX)
        return REFUSE("out of memory");
    if (has_too_many(text, n_bytes))
        return REFUSE("more than %d objects and arrays", RESULT_MOST_PARTS);
    tokener = json_tokener_new();
    if (tokener == NULL)
        return REFUSE("out of memory");
    found = json_tokener_parse_ex(tokener, text, (int)n_bytes);
    end = json_tokener_get_parse_end(tokener);
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        (void)REFUSE("line %u: truncated JSON", line_of(text, n_bytes));
    else if (found == NULL)
        (void)REFUSE("line %u: %s", line_of(text, end),
                     json_tokener_get_error(tokener) == json_tokener_success
                         ? why_nothing(text)
                         : json_tokener_error_desc(json_tokener_get_error(tokener)));
    else if (strspn(text + end, " \t\r\n") != n_bytes - end) {
        (void)REFUSE("line %u: unexpected text after the result", line_of(text, end));
        json_object_put(found);
        found = NULL;
    }
    json_tokener_free(tokener);
    return found;
}

/* Returns the name of what is missing, NULL: nothing. */
static const char *lacks(const struct json_object *result)
{
    static const char *const counts[] = {
        "connections.asked", "connections.live_at_end",  "queries.scheduled", "queries.sent",
        "queries.answered",  "queries.timeout",          "queries.error",     "queries.unsent",
        "queries.cancelled", "latency_ns.response.count"};
    static const char *const texts[] = {"verdict", "started"};
    uint64_t value;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!result_u64(result, counts[i], &value))
            return counts[i];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (result_string(result, texts[i]) == NULL)
            return texts[i];
    return NULL;
}

/* The state of a run in progress, whose verdict is not known yet; NULL: the run has ended. */
static const char *state_in_progress(const struct json_object *result)
{
    static const char *const states[] = {"connecting", "running", "paused", "draining"};
    const char *state = result_string(result, "state");

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (state != NULL && strcmp(state, states[i]) == 0 &&
            result_find(result, "verdict") == NULL)
            return states[i];
    return NULL;
}

struct json_object *result_parse(const char *text, size_t n_bytes, char error[RESULT_ERROR_BYTES])
{
    struct json_object *result = result_parse_any(text, n_bytes, error);
    const char *program, *state, *missing;
    uint64_t schema = 0;

    if (result == NULL)
        return NULL;
    program = result_string(result, "program");
    if (program == NULL || !result_u64(result, "schema", &schema))
        (void)REFUSE("valid JSON, but not a result of tcpclient");
    else if (strcmp(program, "tcpclient") != 0 && strcmp(program, "tcpreport") != 0)
        (void)REFUSE("a result of %.40s, not of tcpclient", program);
    else if (schema != RESULT_SCHEMA)
        (void)REFUSE("unsupported schema %llu: expected %d", (unsigned long long)schema,
                     RESULT_SCHEMA);
    else if ((state = state_in_progress(result)) != NULL)
        (void)REFUSE("the run was still %s: expected the result of a run that has ended", state);
    else if (result_find(result, "plan") != NULL)
        (void)REFUSE("a plan (--plan), not a result of a run");
    else if (result_find(result, "samples") != NULL)
        (void)REFUSE("samples of tcpreport watch (for --watch), not a result of a run");
    else if ((missing = lacks(result)) != NULL)
        (void)REFUSE("incomplete result: %s is missing or has the wrong type", missing);
    else
        return result;
    json_object_put(result);
    return NULL;
}

int result_set(struct json_object *result, const char *key, struct json_object *value)
{
    return json_object_object_add(result, key, value);
}

void result_free(struct json_object *result)
{
    json_object_put(result);
}
