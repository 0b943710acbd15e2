/* SPDX-License-Identifier: MIT
 * test_options_parse: rejected command lines, operands, what counts as given, --help. */
#include "options_steps.h"

#include "config/options.h"
#include "config/options_help.h"
#include "config/options_parse.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void options_that_cannot_be_read_are_refused(void **state)
{
    static const struct {
        const char *line, *option, *problem, *advice;
    } cases[] = {
        {"--count", "--count", "missing", "N"},
        {"-c", "--count", "missing", "N"},
        {"-fd", "--duration", "missing", "TIME"},
        {"host --text", "--text", "missing", "TEXT"},
        {"--nope", "--nope", "unknown", "--help"},
        {"--nope=5", "--nope", "unknown", "--help"},
        {"--Numbers", "--Numbers", "unknown", "--help"},
        {"-x", "-x", "unknown", "--help"},
        {"-fx", "-x", "unknown", "--help"},
        {"-1", "-1", "unknown", "--help"},
        {"--coun 5", "--coun", "ambiguous", "expected --count, --counter"},
        {"--cuont 5", "--cuont: unknown option", "did you mean 'count'?", "See --help"},
        {"--duratoin=5", "--duratoin=5: unknown option", "did you mean 'duration'?", "See --help"},
        {"--flag=1", "--flag", "'1'", "yes or no"},
        {"--flag=", "--flag", "''", "yes or no"},
        {"--counter=", "--counter", "--counter=", "no value"},
        {"--help=5", "--help", "--help=5", "no value"},
        {"--count --flag", "--count", "'--flag'", "1,000,000"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_refused(cases[i].line, cases[i].option, cases[i].problem, cases[i].advice);
}

static void operands_come_after_the_options(void **state)
{
    static const struct {
        const char *line, *operands[2];
        bool flag;
    } cases[] = {
        {"host", {"host", NULL}, false},   {"-f host", {"host", NULL}, true},
        {"host -f", {"host", NULL}, true}, {"one -f two", {"one", "two"}, true},
        {"-- -f", {"-f", NULL}, false},    {"-f -- --flag", {"--flag", NULL}, true},
        {"-", {"-", NULL}, false},         {"-c 5 -f", {NULL, NULL}, true},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct run r;
        int n = 0;

        init(&r);
        parse(&r, cases[i].line);
        assert_int_equal(r.result, OPTIONS_RUN);
        assert_int_equal(r.settings.flag, cases[i].flag);
        for (; n < 2 && cases[i].operands[n] != NULL; n++)
            assert_string_equal(r.words.argv[r.first_operand + n], cases[i].operands[n]);
        assert_int_equal(r.words.argc - r.first_operand, n);
        free(r.output);
    }
}

static void only_named_options_count_as_given(void **state)
{
    struct run r;

    (void)state;
    init(&r);
    parse(&r, "-c 7 --flag host");
    for (size_t i = 0; i < N_OF(rows); i++) {
        const bool named = strcmp(rows[i].name, "count") == 0 || strcmp(rows[i].name, "flag") == 0;

        assert_int_equal(r.given[i], named ? OPTIONS_COMMAND_LINE : OPTIONS_DEFAULT);
        assert_int_equal(options_was_given(&r.options, rows[i].name), named);
    }
    assert_false(options_was_given(&r.options, "nope"));
    assert_false(options_was_given(&r.options, "coun"));
    free(r.output);
}

static void each_parse_begins_anew(void **state)
{
    static const char *const before[] = {"-fxv",       "--nope",     "-c",
                                         "--help -vv", "one two -f", "-vvvcx"};
    struct run r;

    (void)state;
    init(&r);
    for (size_t i = 0; i < N_OF(before); i++) {
        parse(&r, before[i]);
        r.settings = (struct settings){0};
        parse(&r, "-v host --port 53");
        assert_int_equal(r.result, OPTIONS_RUN);
        assert_int_equal(r.settings.counter, 1);
        assert_false(r.settings.flag);
        assert_int_equal(r.settings.port, 53);
        assert_int_equal(r.words.argc - r.first_operand, 1);
        assert_string_equal(r.words.argv[r.first_operand], "host");
        for (size_t k = 0; k < N_OF(rows); k++)
            assert_int_equal(r.given[k] != OPTIONS_DEFAULT, strcmp(rows[k].name, "counter") == 0 ||
                                                                strcmp(rows[k].name, "port") == 0);
    }
    free(r.output);
}

static void help_has_every_row_within_100_columns(void **state)
{
    struct run r;

    (void)state;
    init(&r);
    parse(&r, "--help");
    assert_int_equal(r.result, OPTIONS_EXIT);
    assert_contains(r.output, "tool [options] HOST");
    assert_contains(r.output, "Does what it is told.");
    for (size_t i = 0; i < N_OF(rows); i++) {
        char option[LINE_BYTES];

        if (rows[i].kind == OPTION_HEADING) {
            snprintf(option, sizeof option, "\n%s\n", rows[i].name);
            assert_contains(r.output, option);
            continue;
        }
        snprintf(option, sizeof option, "--%s%s%s", rows[i].name,
                 rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        assert_contains(r.output, option);
        assert_contains(r.output, rows[i].help);
        snprintf(option, sizeof option, "-%c, --%s", rows[i].letter, rows[i].name);
        if (rows[i].letter != 0)
            assert_contains(r.output, option);
    }
    for (const char *line = r.output; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, HELP_WIDTH);
    free(r.output);
}

static void help_aligns_what_options_do(void **state)
{
    size_t column = 0;
    struct run r;
    char *output;

    (void)state;
    init(&r);
    options_print_help(&r.options, print_open());
    output = print_close();
    for (size_t i = 0; i < N_OF(rows); i++) {
        const char *help, *line;

        if (rows[i].kind == OPTION_HEADING)
            continue;
        help = line = strstr(output, rows[i].help);
        assert_non_null(help);
        while (line > output && line[-1] != '\n')
            line--;
        if (column == 0)
            column = (size_t)(help - line);
        assert_int_equal(help - line, column);
    }
    parse(&r, "-h");
    assert_string_equal(r.output, output);
    free(r.output);
    free(output);
}

/* An option that is too long for its column has its help on the next line. */
static void help_without_headings_has_one_for_all(void **state)
{
    static const struct option_row two[] = {
        {"a-name-of-20-letters", 0, OPTION_FLAG, FIELD(flag), NULL, "beside", 0, 0, NULL},
        {"an-name-of-21-letters", 0, OPTION_FLAG, FIELD(flag), NULL, "below", 0, 0, NULL},
    };
    struct run r;
    char *output;

    (void)state;
    init(&r);
    r.options.rows = two;
    r.options.n_rows = N_OF(two);
    options_print_help(&r.options, print_open());
    output = print_close();
    assert_string_equal(output, "Usage: tool [options] HOST\n"
                                "Does what it is told.\n"
                                "\nOptions\n"
                                "      --a-name-of-20-letters  beside\n"
                                "      --an-name-of-21-letters\n"
                                "                              below\n");
    free(output);
}

static void help_names_the_units_of_values_that_the_options_take(void **state)
{
    static const struct {
        size_t n_rows;
        const char *end;
    } cases[] = {
        {N_OF(rows), "a bare number is seconds).\n"
                     "Counts take k, M and G, sizes also KiB, MiB and GiB.\n"},
        {5, "how large it is\n"}, /* no times */
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct run r;
        char *output;

        init(&r);
        r.options.n_rows = cases[i].n_rows;
        options_print_help(&r.options, print_open());
        output = print_close();
        assert_true(strlen(output) > strlen(cases[i].end));
        assert_string_equal(output + strlen(output) - strlen(cases[i].end), cases[i].end);
        free(output);
    }
}

static void help_and_version_end_the_parsing(void **state)
{
    static const struct {
        const char *line;
        enum options_result result;
        const char *output;
    } cases[] = {
        {"--version", OPTIONS_EXIT, "tool 1.2.3\n"},
        {"-V", OPTIONS_EXIT, "tool 1.2.3\n"},
        {"-f -V host", OPTIONS_EXIT, "tool 1.2.3\n"},
        {"--version --nope", OPTIONS_EXIT, "tool 1.2.3\n"},
        {"--version --help", OPTIONS_EXIT, "tool 1.2.3\n"},
        {"--nope --version", OPTIONS_USAGE, ""},
        {"-c x --help", OPTIONS_USAGE, ""},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct run r;

        init(&r);
        parse(&r, cases[i].line);
        assert_int_equal(r.result, cases[i].result);
        assert_string_equal(r.output, cases[i].output);
        free(r.output);
    }
}

/* Files and profiles are read before anything else, so before a bad command line is refused. */
static void the_last_value_of_a_kind_is_found_whatever_is_wrong(void **state)
{
    static const struct {
        const char *line, *expected;
    } cases[] = {
        {"--text a host --text b", "b"},   {"--nope -x --text a -c", "a"},
        {"--text a --help --text b", "a"}, {"--text a -V --text b", "a"},
        {"-f -- --text a", NULL},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct run r;
        const char *found;

        init(&r);
        words_split(&r.words, "tool", cases[i].line);
        found = options_find(&r.options, OPTION_TEXT, r.words.argc, r.words.argv);
        if (cases[i].expected == NULL)
            assert_null(found);
        else
            assert_string_equal(found, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_cannot_be_read_are_refused),
        cmocka_unit_test(operands_come_after_the_options),
        cmocka_unit_test(only_named_options_count_as_given),
        cmocka_unit_test(each_parse_begins_anew),
        cmocka_unit_test(help_has_every_row_within_100_columns),
        cmocka_unit_test(help_aligns_what_options_do),
        cmocka_unit_test(help_without_headings_has_one_for_all),
        cmocka_unit_test(help_names_the_units_of_values_that_the_options_take),
        cmocka_unit_test(help_and_version_end_the_parsing),
        cmocka_unit_test(the_last_value_of_a_kind_is_found_whatever_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
