/* SPDX-License-Identifier: MIT
 * result: see report/result.h. */
#include "report/result.h"

#include "measure/hist.h"

#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KEY_BYTES = 64 };

#define NS_PER_S     1e9
#define MOST_EPOCH_S 1e10 /* in the year 2286; plus the longest run, still within 64 bits */
#define MOST_NS      1e18 /* of any time: 30 years */

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

/* --- parsing --- */

static int put_row(struct json_object *row, struct printbuf *out, int level, int flags)
{
    const char *text;

    (void)level;
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

/* Whether it has too many objects and arrays, for each of which json-c takes up to 800 bytes. */
static bool has_too_many(const char *text, size_t n_bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < n_bytes; i++)
        n += text[i] == '{' || text[i] == '[';
    return n > RESULT_MOST_PARTS;
}

struct json_object *result_parse_any(const char *text, size_t n_bytes,
                                     char error[RESULT_ERROR_BYTES])
{
    struct json_tokener *tokener;
    struct json_object *found;
    size_t end;

    if (has_too_many(text, n_bytes))
        return REFUSE("more than %d objects and arrays", RESULT_MOST_PARTS);
    tokener = json_tokener_new();
    if (tokener == NULL || n_bytes > INT_MAX) {
        json_tokener_free(tokener);
        return REFUSE("out of memory");
    }
    found = json_tokener_parse_ex(tokener, text, (int)n_bytes);
    end = json_tokener_get_parse_end(tokener);
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        (void)REFUSE("line %u: truncated JSON", line_of(text, n_bytes));
    else if (found == NULL)
        (void)REFUSE("line %u: %s", line_of(text, end),
                     json_tokener_get_error(tokener) == json_tokener_success
                         ? "null where an object is expected"
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

struct json_object *result_parse(const char *text, size_t n_bytes, char error[RESULT_ERROR_BYTES])
{
    struct json_object *result = result_parse_any(text, n_bytes, error);
    const char *program, *missing;
    uint64_t schema = 0;

    if (result == NULL)
        return NULL;
    program = result_string(result, "program");
    if (program == NULL || !result_u64(result, "schema", &schema))
        (void)REFUSE("valid JSON, but not a result of tcpclient");
    else if (strcmp(program, "tcpclient") != 0 && strcmp(program, "tcpreport") != 0)
        (void)REFUSE("a result of %.40s: expected one of tcpclient", program);
    else if (schema != RESULT_SCHEMA)
        (void)REFUSE("unsupported schema %llu: expected %d", (unsigned long long)schema,
                     RESULT_SCHEMA);
    else if ((missing = lacks(result)) != NULL)
        (void)REFUSE("incomplete result: %s is missing, or not of its type", missing);
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

/* --- figures --- */

static uint64_t percentile_of(const struct json_object *metric, const char *key)
{
    const char *text = result_string(metric, key);
    uint64_t value = LATENCY_UNKNOWN;

    if (text != NULL && strcmp(text, "beyond") == 0)
        return HIST_BEYOND;
    (void)result_u64(metric, key, &value);
    return value;
}

static bool is_time(double ns)
{
    return ns >= 0 && ns < MOST_NS;
}

static bool latency_of(const struct json_object *metric, struct latency *l)
{
    *l = (struct latency){.mean_error_90_ns = NAN, .mean_error_95_ns = NAN};
    if (!result_u64(metric, "count", &l->count) || !result_u64(metric, "over", &l->over))
        return false;
    (void)result_u64(metric, "clamped", &l->clamped);
    if (l->count > 0 &&
        (!result_u64(metric, "min", &l->min_ns) || !result_u64(metric, "max", &l->max_ns) ||
         !result_double(metric, "mean", &l->mean_ns) ||
         !result_double(metric, "stddev", &l->stddev_ns) || l->min_ns > l->max_ns ||
         !is_time(l->mean_ns) || !is_time(l->stddev_ns)))
        return false;
    (void)result_double(metric, "mean_error_90", &l->mean_error_90_ns);
    (void)result_double(metric, "mean_error_95", &l->mean_error_95_ns);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        l->percentiles_ns[i] = percentile_of(metric, latency_percentiles[i].key);
    return true;
}

bool result_latency(const struct json_object *result, const char *metric, struct latency *l)
{
    char path[KEY_BYTES];

    snprintf(path, sizeof path, "latency_ns.%s", metric);
    return latency_of(result_find(result, path), l);
}

void result_each_metric(const struct json_object *result,
                        void (*each)(void *arg, const char *name, const struct latency *l),
                        void *arg)
{
    struct latency l;

    json_object_object_foreach(result_find(result, "latency_ns"), name, metric)
    {
        if (latency_of(metric, &l))
            each(arg, name, &l);
    }
}

enum result_verdict result_verdict(const struct json_object *result)
{
    if (result_find(result, "broken_law") != NULL)
        return RESULT_INVALID;
    return strcmp(result_string(result, "verdict"), "VALID") == 0 ? RESULT_VALID : RESULT_SUSPECT;
}

const char *result_verdict_name(enum result_verdict verdict)
{
    static const char *const names[] = {"VALID", "SUSPECT", "INVALID"};

    return names[verdict];
}

bool result_flag(const struct json_object *result, const char *path)
{
    return json_object_get_boolean(result_find(result, path)) != 0;
}

bool result_was_interrupted(const struct json_object *result)
{
    return result_flag(result, "interrupted");
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

void result_span(const struct json_object *result, uint64_t *begin_ns, uint64_t *end_ns)
{
    double connect_s = 0, duration_s = 0;

    (void)result_double(result, "rate.duration_s", &duration_s);
    *begin_ns = result_time_ns(result, "measured_from");
    if (*begin_ns == 0) {
        (void)result_double(result, "connections.connect_elapsed_s", &connect_s);
        *begin_ns = result_time_ns(result, "started");
    }
    *end_ns = *begin_ns + (uint64_t)(fmin(fmax(connect_s + duration_s, 0), 1e9) * NS_PER_S);
}

double result_sending_s(const struct json_object *result)
{
    double sent = 0, achieved_qps = 0, duration_s = 0;

    (void)result_double(result, "queries.sent", &sent);
    (void)result_double(result, "rate.achieved_qps", &achieved_qps);
    (void)result_double(result, "rate.duration_s", &duration_s);
    return sent > 0 && achieved_qps > 0 ? sent / achieved_qps : fmax(duration_s, 0);
}

const char *result_connections_requested(const struct json_object *result)
{
    return result_find(result, "on_demand") != NULL ? "on_demand.requested" : "connections.asked";
}

uint64_t result_timeout_ns(const struct json_object *result)
{
    double timeout_s = 0;

    (void)result_double(result, "options.timeout", &timeout_s);
    return (uint64_t)(fmin(fmax(timeout_s, 0), 1e9) * NS_PER_S);
}

/* Including that of a class: "response:NAME". */
static bool is_of_queries(const char *metric)
{
    static const char *const names[] = {"response", "service", "net"};
    const size_t n_bytes = strcspn(metric, ":");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n_bytes && strncmp(metric, names[i], n_bytes) == 0)
            return true;
    return false;
}

uint64_t result_timeout_of_ns(const struct json_object *result, const char *metric)
{
    return is_of_queries(metric) && !result_is_of_listener(result) ? result_timeout_ns(result)
                                                                   : LATENCY_NEVER;
}

const char *result_sweep_unit(const struct json_object *sweep)
{
    const struct json_object *point;
    const char *unit = NULL;

    for (size_t i = 0; unit == NULL && (point = result_element(sweep, "points", i)) != NULL; i++)
        unit = result_string(point, "search.unit");
    return unit;
}

const char *result_capacity_unit(const struct json_object *result)
{
    const char *unit = result_string(result, "search.unit");

    return unit != NULL ? unit : result_sweep_unit(result_find(result, "sweep"));
}

bool result_is_of_listener(const struct json_object *result)
{
    return result_find(result, "push") != NULL;
}

bool result_is_search(const struct json_object *result)
{
    return result_find(result, "search") != NULL || result_find(result, "sweep") != NULL;
}
