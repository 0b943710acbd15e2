/* SPDX-License-Identifier: MIT
 * merge: see report/merge.h. */
#include "report/merge.h"

#include "measure/verdict.h"
#include "report/result.h"

#include <json-c/json.h>
#include <string.h>

/* The top-level keys that are not counts. */
enum rule {
    ADD,
    ADD_KNOWN, /* null: nothing to add */
    KEEP_EQUAL,
    UNKNOWN,
    LEAVE_OUT,
    EARLIEST,
    WORST,
    EITHER,
    FIRST,
    UNITE,
    APPEND,
    LEAST,
    ALL
};

static const struct {
    const char *key;
    enum rule rule;
} rules[] = {
    {"options", KEEP_EQUAL},  {"seed", KEEP_EQUAL},
    {"host", KEEP_EQUAL},     {"resources", UNKNOWN},
    {"sockets", UNKNOWN},     {"network", UNKNOWN},
    {"start", UNKNOWN},       {"started", EARLIEST},
    {"verdict", WORST},       {"interrupted", EITHER},
    {"broken_law", FIRST},    {"reasons", UNITE},
    {"valid_to", LEAST},      {"holds", ALL},
    {"explanations", UNITE},  {"diagnosis", APPEND},
    {"schema", LEAVE_OUT},    {"program", LEAVE_OUT},
    {"version", LEAVE_OUT},   {"latency_ns", LEAVE_OUT},
    {"instances", LEAVE_OUT}, {"search", UNKNOWN},
    {"server_cost", UNKNOWN}, {"measured_from", EARLIEST},
    {"sweep", UNKNOWN},       {"proxy", LEAVE_OUT},
    {"goals", UNKNOWN},       {"recovery", ADD_KNOWN},
    {"server", UNKNOWN}, /* it may be the same one */
};

static enum rule rule_of(const char *key)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].key, key) == 0)
            return rules[i].rule;
    return ADD;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n_text = strlen(text), n_end = strlen(end);

    return n_text >= n_end && strcmp(text + n_text - n_end, end) == 0;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static bool is_number(const struct json_object *value)
{
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

/* --- values, which are NULL, i.e. null, also if memory ran out; *failed says so --- */

static struct json_object *made(struct json_object *value, bool *failed)
{
    *failed |= value == NULL;
    return value;
}

static struct json_object *copy_of(const struct json_object *value, bool *failed)
{
    struct json_object *copy = NULL;

    if (value != NULL)
        (void)json_object_deep_copy((struct json_object *)value, &copy, NULL);
    return value != NULL ? made(copy, failed) : NULL;
}

/* Takes the value over. */
static void put(struct json_object *object, const char *key, struct json_object *value,
                bool *failed)
{
    if (object != NULL && json_object_object_add(object, key, value) == 0)
        return;
    json_object_put(value);
    *failed = true;
}

static void append(struct json_object *array, struct json_object *value, bool *failed)
{
    if (array != NULL && json_object_array_add(array, value) == 0)
        return;
    json_object_put(value);
    *failed = true;
}

/* Counts of the host, which the instances may share, and figures that cannot be added up. */
static bool is_unknown_of_a_sum(const char *key)
{
    return ends_with(key, "_ratio") || begins_with(key, "mean_") || begins_with(key, "most_") ||
           begins_with(key, "listen_");
}

static bool is_least(const char *key)
{
    return begins_with(key, "min_") || begins_with(key, "least_");
}

/* Whether null means that there was nothing: no value, no query sent, no message, no connection
 * established before the load, none replaced. */
static bool is_of_nothing_if_null(const char *key)
{
    static const char *const keys[] = {"achieved_qps",       "messages_per_s",    "clock",
                                       "connect_rate_per_s", "connect_elapsed_s", "per_s"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return is_least(key);
}

/* The sum of both; NULL, i.e. null: unknown. */
static struct json_object *merge_numbers(const char *key, struct json_object *a,
                                         struct json_object *b, bool *failed)
{
    const double x = json_object_get_double(a), y = json_object_get_double(b);
    uint64_t count, more;

    if (is_unknown_of_a_sum(key))
        return NULL;
    if (is_least(key))
        return copy_of(x <= y ? a : b, failed);
    if (ends_with(key, "_qps") || ends_with(key, "per_s"))
        return made(json_object_new_double(x + y), failed);
    if (ends_with(key, "_s"))
        return copy_of(x >= y ? a : b, failed);
    if (result_u64(a, "", &count) && result_u64(b, "", &more) && more <= UINT64_MAX - count)
        return made(json_object_new_uint64(count + more), failed);
    return NULL;
}

static struct json_object *merge_values(const char *key, struct json_object *a,
                                        struct json_object *b, bool counts, bool *failed);

/* Objects whose keys are what occurred. */
static bool lists_what_occurred(const char *key)
{
    static const char *const lists[] = {"outcomes", "rcodes", "queries_per_connection", "classes"};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(key, lists[i]) == 0)
            return true;
    return false;
}

/* A key that one of them lacks did not occur there, unless the whole object is unknown there, and
 * therefore unknown for both. */
static struct json_object *merge_objects(const char *key, struct json_object *a,
                                         struct json_object *b, bool counts, bool *failed)
{
    const bool is_0 = counts && lists_what_occurred(key);
    struct json_object *sum = made(json_object_new_object(), failed), *other;

    json_object_object_foreach(a, key_of_a, of_a)
    {
        if (json_object_object_get_ex(b, key_of_a, &other))
            put(sum, key_of_a, merge_values(key_of_a, of_a, other, counts, failed), failed);
        else
            put(sum, key_of_a, is_0 ? copy_of(of_a, failed) : NULL, failed);
    }
    json_object_object_foreach(b, key_of_b, of_b)
    {
        if (!json_object_object_get_ex(a, key_of_b, NULL))
            put(sum, key_of_b, is_0 ? copy_of(of_b, failed) : NULL, failed);
    }
    return sum;
}

static struct json_object *merge_values(const char *key, struct json_object *a,
                                        struct json_object *b, bool counts, bool *failed)
{
    if (json_object_is_type(a, json_type_object) && json_object_is_type(b, json_type_object))
        return merge_objects(key, a, b, counts, failed);
    if (counts && is_number(a) && is_number(b))
        return merge_numbers(key, a, b, failed);
    if (counts && is_of_nothing_if_null(key) && (a == NULL || b == NULL))
        return copy_of(a != NULL ? a : b, failed);
    return json_object_equal(a, b) ? copy_of(a, failed) : NULL;
}

static bool has_item(struct json_object *array, const struct json_object *item)
{
    for (size_t i = 0; i < json_object_array_length(array); i++)
        if (json_object_equal(json_object_array_get_idx(array, i), (struct json_object *)item))
            return true;
    return false;
}

static struct json_object *merge_arrays(struct json_object *a, struct json_object *b, bool all,
                                        bool *failed)
{
    struct json_object *sum = made(json_object_new_array(), failed), *sources[] = {a, b};

    for (int s = 0; s < 2 && sum != NULL; s++) {
        if (!json_object_is_type(sources[s], json_type_array))
            continue;
        for (size_t i = 0; i < json_object_array_length(sources[s]); i++) {
            struct json_object *item = json_object_array_get_idx(sources[s], i);

            if (all || !has_item(sum, item))
                append(sum, copy_of(item, failed), failed);
        }
    }
    return sum;
}

/* Rank in the list; unknown values rank below all. */
static int rank_of_percentile(const char *name)
{
    int rank = VERDICT_N_PERCENTILES - 1;

    while (rank >= 0 &&
           (name == NULL || strcmp(name, verdict_percentile_name((unsigned)rank)) != 0))
        rank--;
    return rank;
}

/* An object of flags: true if both are; null if one is missing. */
static struct json_object *merge_flags(struct json_object *a, struct json_object *b, bool *failed)
{
    struct json_object *both, *of_b;

    if (!json_object_is_type(a, json_type_object) || !json_object_is_type(b, json_type_object))
        return NULL;
    both = made(json_object_new_object(), failed);
    json_object_object_foreach(a, key, of_a)
    {
        if (json_object_object_get_ex(b, key, &of_b))
            put(both, key,
                made(json_object_new_boolean(json_object_get_boolean(of_a) &&
                                             json_object_get_boolean(of_b)),
                     failed),
                failed);
    }
    return both;
}

static struct json_object *merge_by_rule(const char *key, struct json_object *a,
                                         struct json_object *b, bool *failed)
{
    const char *of_a = json_object_get_string(a), *of_b = json_object_get_string(b);

    switch (rule_of(key)) {
    case EARLIEST: /* all are UTC, in one form */
        return copy_of(of_a == NULL || (of_b != NULL && strcmp(of_a, of_b) > 0) ? b : a, failed);
    case WORST:
        return copy_of(of_a != NULL && strcmp(of_a, "VALID") == 0 ? b : a, failed);
    case EITHER:
        return made(
            json_object_new_boolean(json_object_get_boolean(a) || json_object_get_boolean(b)),
            failed);
    case FIRST:
        return copy_of(a != NULL ? a : b, failed);
    case ADD_KNOWN:
        return a == NULL || b == NULL ? copy_of(a != NULL ? a : b, failed)
                                      : merge_values(key, a, b, true, failed);
    case UNITE:
        return merge_arrays(a, b, false, failed);
    case APPEND:
        return merge_arrays(a, b, true, failed);
    case LEAST:
        return copy_of(rank_of_percentile(of_a) <= rank_of_percentile(of_b) ? a : b, failed);
    case ALL:
        return merge_flags(a, b, failed);
    case KEEP_EQUAL:
        return merge_values(key, a, b, false, failed);
    case UNKNOWN:
    case LEAVE_OUT:
        return NULL;
    case ADD:
        break;
    }
    return merge_values(key, a, b, true, failed);
}

struct json_object *merge_first(const struct json_object *result)
{
    bool failed = false;
    struct json_object *first = copy_of(result, &failed);

    for (size_t i = 0; i < sizeof rules / sizeof *rules && first != NULL; i++)
        if (rules[i].rule == LEAVE_OUT)
            json_object_object_del(first, rules[i].key);
    return first;
}

/* Whether it has no response time, and therefore no percentile that could hold. */
static bool measured_nothing(const struct json_object *result)
{
    uint64_t n_queries = 0, n_messages = 0, n_lost = 0;

    (void)result_u64(result, "push.measured", &n_messages);
    (void)result_u64(result, "push.lost", &n_lost);
    return result_u64(result, "queries.scheduled", &n_queries) && n_queries == 0 &&
           n_messages == 0 && n_lost == 0;
}

static bool is_about_percentiles(const char *key)
{
    return rule_of(key) == LEAST || rule_of(key) == ALL;
}

/* Merges the keys that the result lacks. */
static void add_missing(struct json_object *into, const struct json_object *result, bool *failed)
{
    json_object_object_foreach(into, key, so_far)
    {
        if (json_object_object_get_ex(result, key, NULL) || rule_of(key) == LEAVE_OUT)
            continue;
        put(into, key, merge_by_rule(key, so_far, NULL, failed), failed);
    }
}

int merge_add(struct json_object *into, const struct json_object *result)
{
    const bool nothing_so_far = measured_nothing(into), nothing_more = measured_nothing(result);
    struct json_object *other;
    bool failed = false;

    add_missing(into, result, &failed);
    json_object_object_foreach((struct json_object *)result, key, value)
    {
        if (rule_of(key) == LEAVE_OUT)
            continue;
        if (is_about_percentiles(key) && nothing_more)
            continue;
        other = json_object_object_get(into, key);
        put(into, key,
            is_about_percentiles(key) && nothing_so_far ? copy_of(value, &failed)
                                                        : merge_by_rule(key, other, value, &failed),
            &failed);
    }
    return failed ? -1 : 0;
}
