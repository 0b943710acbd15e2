/* SPDX-License-Identifier: MIT
 * fingerprint: see report/fingerprint.h. */
#include "report/fingerprint.h"

#include "report/result.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

/* ignored: outputs, the target and its verification, files whose settings are listed one by one,
 * the control port, the watched server, the start, the goals, and settings that differ between
 * parallel instances */
static const char *const no_settings[] = {
    "json",     "hlog",     "hgrm",         "output",         "connections-out",
    "raw",      "raw-full", "sample",       "target",         "port",
    "config",   "profile",  "control",      "control-token",  "server-control",
    "quiet",    "source",   "sport",        "stats-interval", "verbose",
    "force",    "plan",     "seed",         "start-at",       "start-file",
    "late-max", "find-out", "sweep-out",    "report",         "watch",
    "assert",   "require",  "proxy-source", "tls-name",       "tls-ca"};
static const char *const host_keys[] = {"kernel", "cpus", "threads", "own_fd_tables", "pacing"};
static const char *const program_paths[] = {"version", "host.libevent", "host.backend"};

#define N_OF(array) (sizeof(array) / sizeof *(array))

static bool is_listed(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, list[i]) == 0)
            return true;
    return false;
}

/* The value as JSON, on one line. */
static const char *line_of(struct json_object *value)
{
    return value == NULL ? "null"
                         : json_object_to_json_string_ext(
                               value, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* Adds a difference to the text; returns 1, or 0 if there is none. */
static unsigned add_difference(const char *key, struct json_object *a, struct json_object *b,
                               char *text)
{
    const size_t n = strlen(text);

    if (json_object_equal(a, b))
        return 0;
    snprintf(text + n, FINGERPRINT_TEXT_BYTES - n, "%s%s %s and %s", n > 0 ? ", " : "", key,
             line_of(a), line_of(b));
    return 1;
}

static bool is_off(struct json_object *value)
{
    return value == NULL ||
           (json_object_is_type(value, json_type_boolean) && !json_object_get_boolean(value));
}

/* As add_difference().  An option that a version lacks is off there. */
static unsigned add_setting(const char *key, const struct json_object *of_a,
                            const struct json_object *of_b, char *text)
{
    struct json_object *a = NULL, *b = NULL;
    const bool a_has_it = json_object_object_get_ex(of_a, key, &a),
               b_has_it = json_object_object_get_ex(of_b, key, &b);

    if (is_listed(key, no_settings, N_OF(no_settings)) ||
        (a_has_it != b_has_it && is_off(a) && is_off(b)))
        return 0;
    return add_difference(key, a, b, text);
}

unsigned fingerprint_settings(const struct json_object *a, const struct json_object *b,
                              char text[FINGERPRINT_TEXT_BYTES])
{
    struct json_object *of_a = result_find(a, "options"), *of_b = result_find(b, "options");
    unsigned n = 0;

    text[0] = '\0';
    if (!json_object_is_type(of_a, json_type_object) ||
        !json_object_is_type(of_b, json_type_object))
        return add_difference("options", of_a, of_b, text);
    json_object_object_foreach(of_a, key_of_a, value)
    {
        (void)value;
        n += add_setting(key_of_a, of_a, of_b, text);
    }
    json_object_object_foreach(of_b, key_of_b, added)
    {
        (void)added;
        if (!json_object_object_get_ex(of_a, key_of_b, NULL))
            n += add_setting(key_of_b, of_a, of_b, text);
    }
    return n;
}

static unsigned list_differences(const char *const *paths, size_t n_paths,
                                 const struct json_object *a, const struct json_object *b,
                                 char text[FINGERPRINT_TEXT_BYTES])
{
    unsigned n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n_paths; i++)
        n += add_difference(paths[i], result_find(a, paths[i]), result_find(b, paths[i]), text);
    return n;
}

unsigned fingerprint_host(const struct json_object *a, const struct json_object *b,
                          char text[FINGERPRINT_TEXT_BYTES])
{
    return list_differences(host_keys, N_OF(host_keys), result_find(a, "host"),
                            result_find(b, "host"), text);
}

unsigned fingerprint_program(const struct json_object *a, const struct json_object *b,
                             char text[FINGERPRINT_TEXT_BYTES])
{
    return list_differences(program_paths, N_OF(program_paths), a, b, text);
}
