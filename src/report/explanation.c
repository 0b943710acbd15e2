/* SPDX-License-Identifier: MIT
 * explanation: see report/explanation.h. */
#include "report/explanation.h"

#include "report/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 3, NAMES_BEFORE_OTHERS = 2 };

static const char *list_of(const struct json_object *result)
{
    return result_item(result, "explanations", 0) != NULL ? "explanations" : "reasons";
}

const char *explanation(const struct json_object *result, unsigned i)
{
    return result_item(result, list_of(result), i);
}

/* Whether an instance gave this text. */
static bool has(const struct json_object *instance, const char *list, const char *text)
{
    const char *item;

    for (unsigned i = 0; (item = result_item(instance, list, i)) != NULL; i++)
        if (strcmp(item, text) == 0)
            return true;
    return false;
}

static size_t count(const struct json_object *result, const char *list, const char *text)
{
    const struct json_object *instance;
    size_t n = 0;

    for (size_t i = 0; (instance = result_element(result, "instances", i)) != NULL; i++)
        n += has(instance, list, text);
    return n;
}

static void add(char *names, const char *separator, const char *name)
{
    const size_t n = strlen(names);

    snprintf(names + n, EXPLANATION_INSTANCES_BYTES - n, "%s%.250s", separator, name);
}

const char *explanation_instances(char *names, const struct json_object *result, unsigned i)
{
    const char *list = list_of(result), *text = explanation(result, i), *name;
    const size_t n = text != NULL ? count(result, list, text) : 0;
    const size_t n_named = n > MOST_NAMES ? NAMES_BEFORE_OTHERS : n;
    const struct json_object *instance;
    size_t n_added = 0;
    char others[64];

    names[0] = '\0';
    if (result_element(result, "instances", 1) == NULL)
        return names;
    for (size_t k = 0; n_added < n_named; k++) {
        instance = result_element(result, "instances", k);
        name = result_string(instance, "name");
        if (has(instance, list, text))
            add(names, n_added++ > 0 ? ", " : "", name != NULL ? name : "?");
    }
    snprintf(others, sizeof others, " and %zu others", n - n_named);
    if (n > n_named)
        add(names, "", others);
    if (n > 0)
        add(names, "", ": ");
    return names;
}
