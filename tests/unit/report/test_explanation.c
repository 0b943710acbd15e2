/* SPDX-License-Identifier: MIT
 * test_explanation: why a result is in doubt, and which of several instances say so. */
#include "report/explanation.h"

#include "report/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct json_object *parse(const char *text)
{
    char error[RESULT_ERROR_BYTES];
    struct json_object *result = result_parse_any(text, strlen(text), error);

    assert_non_null(result);
    return result;
}

static void assert_line(const struct json_object *result, unsigned i, const char *names,
                        const char *text)
{
    char got[EXPLANATION_INSTANCES_BYTES];

    assert_string_equal(explanation_instances(got, result, i), names);
    assert_string_equal(explanation(result, i), text);
}

static void reasons_are_shown_if_nothing_explains_them(void **state)
{
    struct json_object *result =
        parse("{\"reasons\":[\"unsent\"],\"explanations\":[\"5 unsent\"]}");

    (void)state;
    assert_line(result, 0, "", "5 unsent");
    assert_null(explanation(result, 1));
    result_free(result);
    result = parse("{\"reasons\":[\"unsent\"]}");
    assert_line(result, 0, "", "unsent");
    result_free(result);
    result = parse("{}");
    assert_null(explanation(result, 0));
    result_free(result);
}

static void instances_of_an_explanation_are_named(void **state)
{
    static const char text[] =
        "{\"explanations\":[\"5 unsent\",\"drops\",\"older\"],\"instances\":["
        "{\"name\":\"a\",\"explanations\":[\"5 unsent\",\"drops\"]},{\"name\":\"b\"},"
        "{\"name\":\"c\",\"explanations\":[\"drops\"]}]}";
    struct json_object *result = parse(text);

    (void)state;
    assert_line(result, 0, "a: ", "5 unsent");
    assert_line(result, 1, "a, c: ", "drops");
    assert_line(result, 2, "", "older");
    result_free(result);
}

/* A fleet of clients, all in the same trouble, in a line that can be read. */
static void many_instances_are_counted(void **state)
{
    static const char *const expected[] = {
        "", "0, 1: ", "0, 1, 2: ", "0, 1 and 2 others: ", "0, 1 and 3 others: "};
    char text[1000] = "{\"reasons\":[\"unsent\"],\"instances\":[";

    (void)state;
    for (int n = 1; n <= 5; n++) {
        struct json_object *result;
        char got[EXPLANATION_INSTANCES_BYTES];
        size_t length;

        length = strlen(text);
        snprintf(text + length, sizeof text - length,
                 "%s{\"name\":\"%d\",\"reasons\":[\"unsent\"]}", n > 1 ? "," : "", n - 1);
        length = strlen(text);
        snprintf(text + length, sizeof text - length, "]}");
        result = parse(text);
        text[length] = '\0';
        assert_string_equal(explanation_instances(got, result, 0), expected[n - 1]);
        result_free(result);
    }
}

static void names_of_any_length_fit(void **state)
{
    char name[2000], text[4500], got[EXPLANATION_INSTANCES_BYTES];
    struct json_object *result;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text,
             "{\"reasons\":[\"a\"],\"instances\":[{\"name\":\"%s\",\"reasons\":[\"a\"]},"
             "{\"name\":\"%s\",\"reasons\":[\"a\"]}]}",
             name, name);
    result = parse(text);
    assert_int_equal(strlen(explanation_instances(got, result, 0)), 250 + 2 + 250 + 2);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_shown_if_nothing_explains_them),
        cmocka_unit_test(instances_of_an_explanation_are_named),
        cmocka_unit_test(many_instances_are_counted),
        cmocka_unit_test(names_of_any_length_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
