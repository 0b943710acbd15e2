/* SPDX-License-Identifier: MIT
 * test_confline: lines of a configuration: accepted, rejected, and printed so that they parse to
 * the same. */
#include "config/confline.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { LINE_BYTES = 256 };

static char line[LINE_BYTES], error[CONFLINE_ERROR_BYTES];
static struct confline parts;

static int cut(const char *text)
{
    assert_in_range(snprintf(line, sizeof line, "%s", text), 0, LINE_BYTES - 1);
    error[0] = '\0';
    return confline_cut(line, &parts, error);
}

static void lines_are_cut_into_name_and_value(void **state)
{
    static const struct {
        const char *line, *name, *value;
    } cases[] = {
        {"", NULL, NULL},
        {" \t\r", NULL, NULL},
        {"# rate = 5", NULL, NULL},
        {"  #", NULL, NULL},
        {"raw", "raw", NULL},
        {" raw # rows", "raw", NULL},
        {"rate = 5", "rate", "5"},
        {"rate=5", "rate", "5"},
        {"\trate  =\t5 \r", "rate", "5"},
        {"rate = 5 # per second", "rate", "5"},
        {"rate = 5# per second", "rate", "5# per second"},
        {"output = a#b", "output", "a#b"},
        {"output = a b", "output", "a b"},
        {"output = a = b", "output", "a = b"},
        {"output = a\"b", "output", "a\"b"},
        {"output = a\\nb", "output", "a\\nb"},
        {"output = \"a # b \" # c", "output", "a # b "},
        {"output = \"\"", "output", ""},
        {"output = \"\\\\n\\n\\\"\"", "output", "\\n\n\""},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(cut(cases[i].line), 0);
        assert_int_equal(parts.name != NULL, cases[i].name != NULL);
        assert_int_equal(parts.value != NULL, cases[i].value != NULL);
        if (parts.name != NULL)
            assert_string_equal(parts.name, cases[i].name);
        if (parts.value != NULL)
            assert_string_equal(parts.value, cases[i].value);
    }
}

static void lines_of_another_form_are_refused(void **state)
{
    static const struct {
        const char *line, *problem;
    } cases[] = {
        {"rate 5 # a comment", "missing '=' after 'rate'"},
        {"rate \"5\"", "missing '=' after 'rate'"},
        {"= 5", "name"},
        {"rate =", "value"},
        {"rate = # 5", "value"},
        {"rate =#5", "value"},
        {"output = \"a", "closing quote"},
        {"output = \"a\\\"", "closing quote"},
        {"output = \"a\" b", "unexpected text"},
        {"output = \"\\a\"", "invalid escape"},
        {"output = \"\\", "invalid escape"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(cut(cases[i].line), -1);
        assert_non_null(strstr(error, cases[i].problem));
        assert_null(strchr(error, '\n'));
    }
}

static void assert_comes_back(const char *value)
{
    char *printed, *end;

    confline_print(print_open(), "name", value);
    printed = print_close();
    end = strchr(printed, '\n');
    assert_string_equal(end, "\n");
    *end = '\0';
    assert_int_equal(cut(printed), 0);
    assert_string_equal(parts.name, "name");
    assert_string_equal(parts.value, value);
    free(printed);
}

static void every_value_that_is_printed_is_found_again(void **state)
{
    static const char letters[] = "a \t\r\n#\"\\=n";
    char value[5];

    (void)state;
    /* all values of up to four of the special characters */
    for (unsigned n = 0; n <= 4; n++) {
        unsigned n_values = 1;

        for (unsigned i = 0; i < n; i++)
            n_values *= sizeof letters - 1;
        for (unsigned number = 0; number < n_values; number++) {
            unsigned rest = number;

            for (unsigned i = 0; i < n; i++, rest /= sizeof letters - 1)
                value[i] = letters[rest % (sizeof letters - 1)];
            value[n] = '\0';
            assert_comes_back(value);
        }
    }
}

static void values_are_quoted_only_where_needed(void **state)
{
    static const struct {
        const char *value, *printed;
    } cases[] = {
        {"5", "x = 5\n"},       {"a b", "x = a b\n"},
        {"a#b", "x = a#b\n"},   {"a #b", "x = \"a #b\"\n"},
        {" a", "x = \" a\"\n"}, {"", "x = \"\"\n"},
        {"a\\n", "x = a\\n\n"}, {"a\\\n", "x = \"a\\\\\\n\"\n"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char *printed;

        confline_print(print_open(), "x", cases[i].value);
        printed = print_close();
        assert_string_equal(printed, cases[i].printed);
        free(printed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_into_name_and_value),
        cmocka_unit_test(lines_of_another_form_are_refused),
        cmocka_unit_test(every_value_that_is_printed_is_found_again),
        cmocka_unit_test(values_are_quoted_only_where_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
