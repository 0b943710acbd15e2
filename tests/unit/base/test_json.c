/* SPDX-License-Identifier: MIT
 * test_json: the exact text it writes. */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json j;
static char *text;
static size_t n_bytes;

static int begin(void **state)
{
    (void)state;
    json_init(&j, open_memstream(&text, &n_bytes));
    return j.out != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

static void assert_written(const char *wanted)
{
    assert_int_equal(fclose(j.out), 0);
    assert_string_equal(text, wanted);
}

static void objects_and_arrays_nest(void **state)
{
    (void)state;
    json_object_begin(&j, NULL);
    json_u64(&j, "n", UINT64_MAX);
    json_known_u64(&j, "i", 5);
    json_known_u64(&j, "u", UINT64_MAX);
    json_array_begin(&j, "list");
    json_bool(&j, NULL, true);
    json_object_begin(&j, NULL);
    json_null(&j, "x");
    json_object_end(&j);
    json_array_end(&j);
    json_object_begin(&j, "empty");
    json_object_end(&j);
    json_array_begin(&j, "none");
    json_array_end(&j);
    json_object_end(&j);
    assert_written("{\n  \"n\": 18446744073709551615,\n  \"i\": 5,\n  \"u\": null,\n  \"list\": "
                   "[\n    true,\n    {\n"
                   "      \"x\": null\n    }\n  ],\n  \"empty\": {},\n  \"none\": []\n}\n");
}

static void what_does_not_exist_is_null(void **state)
{
    (void)state;
    json_object_begin(&j, NULL);
    assert_false(json_object_begin_if(&j, "a", false));
    assert_true(json_object_begin_if(&j, "b", true));
    json_object_end(&j);
    json_object_end(&j);
    assert_written("{\n  \"a\": null,\n  \"b\": {}\n}\n");
}

static void strings_are_escaped(void **state)
{
    (void)state;
    json_array_begin(&j, NULL);
    json_string(&j, NULL, "a\"b\\c\n\x01\x1f\xc3\xa9/");
    json_string(&j, NULL, NULL);
    json_string(&j, NULL, "");
    json_array_end(&j);
    assert_written("[\n  \"a\\\"b\\\\c\\u000a\\u0001\\u001f\xc3\xa9/\",\n  null,\n  \"\"\n]\n");
}

static void texts_are_utf_8(void **state)
{
    (void)state;
    json_object_begin(&j, NULL);
    json_string(&j, "\xfck", "Z\u00fcrich \u65e5\u672c \U0001d11e");
    json_string(&j, "latin-1", "Z\xfcrich\xff");
    json_string(&j, "cut off", "\xe6\x97\"");
    json_object_end(&j);
    assert_written("{\n  \"\ufffdk\": \"Z\u00fcrich \u65e5\u672c \U0001d11e\",\n"
                   "  \"latin-1\": \"Z\ufffdrich\ufffd\",\n"
                   "  \"cut off\": \"\ufffd\ufffd\\\"\"\n}\n");
}

static void doubles_are_short_and_read_back_the_same(void **state)
{
    static const double values[] = {0.1, 1.5, 1e300, 1.0 / 3, 123456789.123456789, 5e-324, 0, -2};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_init(&j, open_memstream(&text, &n_bytes));
        json_double(&j, NULL, values[i]);
        fclose(j.out);
        assert_true(strtod(text, NULL) == values[i]);
        assert_true(strlen(text) <= 24);
        free(text);
    }
    json_init(&j, open_memstream(&text, &n_bytes));
    json_double(&j, NULL, 0.1);
    assert_written("0.1");
}

static void what_is_not_finite_is_null(void **state)
{
    (void)state;
    json_array_begin(&j, NULL);
    json_double(&j, NULL, NAN);
    json_double(&j, NULL, INFINITY);
    json_array_end(&j);
    assert_written("[\n  null,\n  null\n]\n");
}

static void json_of_others_is_indented(void **state)
{
    (void)state;
    json_object_begin(&j, NULL);
    json_raw(&j, "a", "{\n  \"b\": \"\\n\"\n}");
    json_raw(&j, "c", "5");
    json_raw(&j, "d", "\"\xc3\xa9\xff\""); /* the latter is not UTF-8 */
    json_object_end(&j);
    assert_written("{\n  \"a\": {\n    \"b\": \"\\n\"\n  },\n  \"c\": 5,\n"
                   "  \"d\": \"\xc3\xa9\xef\xbf\xbd\"\n}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_and_arrays_nest, begin, end),
        cmocka_unit_test_setup_teardown(what_does_not_exist_is_null, begin, end),
        cmocka_unit_test_setup_teardown(strings_are_escaped, begin, end),
        cmocka_unit_test_setup_teardown(texts_are_utf_8, begin, end),
        cmocka_unit_test_teardown(doubles_are_short_and_read_back_the_same, end),
        cmocka_unit_test_setup_teardown(what_is_not_finite_is_null, begin, end),
        cmocka_unit_test_setup_teardown(json_of_others_is_indented, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
