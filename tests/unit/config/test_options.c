/* SPDX-License-Identifier: MIT
 * test_options: values of every kind, refusals and their messages, operands, help and version. */
#include "config/options.h"
#include "config/options_help.h"
#include "config/options_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array)  (sizeof(array) / sizeof *(array))
#define FIELD(field) offsetof(struct settings, field)
#define S            1000000000ull

enum { LINE_BYTES = 512, MAX_WORDS = 16, HELP_WIDTH = 100 };

struct settings {
    bool flag;
    unsigned counter;
    uint64_t count, unlimited, automatic, bytes, duration;
    double rate;
    uint16_t port;
    const char *text;
    int choice;
};

static const struct option_row rows[] = {
    {"Numbers", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"count", 'c', OPTION_COUNT, FIELD(count), "N", "how many there are", 2, 1000000, NULL},
    {"unlimited", 0, OPTION_COUNT, FIELD(unlimited), "N", "as many as you like", 0, 0, NULL},
    {"automatic", 'a', OPTION_AUTO, FIELD(automatic), "N", "auto or not", 1, 64, NULL},
    {"bytes", 'b', OPTION_BYTES, FIELD(bytes), "SIZE", "how large it is", 1024, 1 << 20, NULL},
    {"duration", 'd', OPTION_DURATION, FIELD(duration), "TIME", "how long it takes", 1000, 3600 * S,
     NULL},
    {"rate", 'r', OPTION_RATE, FIELD(rate), "QPS", "how often it happens", 0, 0, NULL},
    {"port", 'p', OPTION_PORT, FIELD(port), "PORT", "where it listens", 0, 0, NULL},
    {"The others", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"flag", 'f', OPTION_FLAG, FIELD(flag), NULL, "whether it is so", 0, 0, NULL},
    {"counter", 'v', OPTION_COUNTER, FIELD(counter), NULL, "more of it", 0, 0, NULL},
    {"text", 't', OPTION_TEXT, FIELD(text), "TEXT", "what it is called", 0, 0, NULL},
    {"choice-with-quite-a-long-name", 0, OPTION_CHOICE, FIELD(choice), "WHICH", "one of three", 0,
     0, "first|second|third"},
    {"help", 'h', OPTION_HELP, 0, NULL, "print this help", 0, 0, NULL},
    {"version", 'V', OPTION_VERSION, 0, NULL, "print the version", 0, 0, NULL},
};

/* A command line, what became of it and what it printed. */
struct run {
    struct options options;
    struct settings settings;
    unsigned char given[N_OF(rows)];
    char line[LINE_BYTES];
    char *argv[MAX_WORDS + 1];
    int argc, first_operand;
    enum options_result result;
    char error[OPTIONS_ERROR_BYTES];
    char *output;
};

static void init(struct run *r)
{
    *r = (struct run){
        .options = {.program = "tool",
                    .usage = "[options] HOST",
                    .summary = "Does what it is told.",
                    .version = "1.2.3",
                    .rows = rows,
                    .n_rows = N_OF(rows),
                    .given = r->given},
        .settings = {.counter = 40, .count = 7, .automatic = 3, .choice = 2},
    };
}

/* Parses the words of a line, which are separated by single blanks. */
static void parse(struct run *r, const char *line)
{
    char *rest = r->line;
    size_t n_bytes = 0;
    FILE *out;

    assert_in_range(snprintf(r->line, LINE_BYTES, "tool %s", line), 0, LINE_BYTES - 1);
    r->argc = 0;
    while (rest != NULL && r->argc < MAX_WORDS)
        r->argv[r->argc++] = strsep(&rest, " ");
    assert_null(rest);
    r->argv[r->argc] = NULL;
    free(r->output);
    r->output = NULL;
    out = open_memstream(&r->output, &n_bytes);
    assert_non_null(out);
    r->result = options_parse(&r->options, &r->settings, r->argc, r->argv, &r->first_operand, out,
                              r->error);
    assert_int_equal(fclose(out), 0);
}

static struct settings settings_after(const char *line)
{
    struct run r;

    init(&r);
    parse(&r, line);
    assert_int_equal(r.result, OPTIONS_RUN);
    assert_string_equal(r.output, "");
    assert_int_equal(r.first_operand, r.argc);
    free(r.output);
    return r.settings;
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* The line must be refused with one line that has all three parts. */
static void assert_refused(const char *line, const char *option, const char *value,
                           const char *accepted)
{
    struct run r;

    init(&r);
    parse(&r, line);
    assert_int_equal(r.result, OPTIONS_USAGE);
    assert_contains(r.error, option);
    assert_contains(r.error, value);
    assert_contains(r.error, accepted);
    assert_null(strchr(r.error, '\n'));
    assert_string_equal(r.output, "");
    free(r.output);
}

static void whole_numbers_are_read_with_their_units(void **state)
{
    static const struct {
        const char *line;
        size_t offset;
        uint64_t expected;
    } cases[] = {
        {"--count 2", FIELD(count), 2},
        {"--count=1M", FIELD(count), 1000000},
        {"-c 10k", FIELD(count), 10000},
        {"-c10k", FIELD(count), 10000},
        {"--count 5 --count 6", FIELD(count), 6},
        {"--unlimited 0", FIELD(unlimited), 0},
        {"--unlimited 18446744073709551615", FIELD(unlimited), UINT64_MAX},
        {"--automatic auto", FIELD(automatic), 0},
        {"-a 1", FIELD(automatic), 1},
        {"-a 64", FIELD(automatic), 64},
        {"--bytes 1024", FIELD(bytes), 1024},
        {"-b 64KiB", FIELD(bytes), 65536},
        {"-b 64k", FIELD(bytes), 64000},
        {"-b 1MiB", FIELD(bytes), 1 << 20},
        {"--duration 1us", FIELD(duration), 1000},
        {"-d 1.5", FIELD(duration), 1500000000},
        {"-d 250ms", FIELD(duration), 250000000},
        {"-d 1h", FIELD(duration), 3600 * S},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct settings s = settings_after(cases[i].line);
        uint64_t value;

        memcpy(&value, (const char *)&s + cases[i].offset, sizeof value);
        assert_int_equal(value, cases[i].expected);
    }
}

static void other_values_are_read_by_their_kind(void **state)
{
    static const char *const choices[] = {"first", "second", "third"};

    (void)state;
    assert_true(settings_after("--flag").flag);
    assert_true(settings_after("-f -f").flag);
    assert_false(settings_after("-v").flag);
    assert_int_equal(settings_after("-v").counter, 41);
    assert_int_equal(settings_after("-vvfv --counter").counter, 44);
    assert_true(settings_after("-vfv").flag);
    assert_float_equal(settings_after("--rate 0.5").rate, 0.5, 0);
    assert_float_equal(settings_after("-r 20k").rate, 20000, 0);
    assert_float_equal(settings_after("-r 0").rate, 0, 0);
    assert_int_equal(settings_after("--port 1").port, 1);
    assert_int_equal(settings_after("-p 65535").port, 65535);
    for (int i = 0; i < 3; i++) {
        char line[LINE_BYTES];

        snprintf(line, sizeof line, "--choice-with-quite-a-long-name=%s", choices[i]);
        assert_int_equal(settings_after(line).choice, i);
    }
}

static void a_text_is_borrowed_from_the_command_line(void **state)
{
    struct run r;

    (void)state;
    init(&r);
    parse(&r, "--text --flag");
    assert_int_equal(r.result, OPTIONS_RUN);
    assert_ptr_equal(r.settings.text, r.argv[2]);
    assert_string_equal(r.settings.text, "--flag");
    assert_false(r.settings.flag);
    free(r.output);
}

static void what_is_not_named_keeps_its_default(void **state)
{
    const struct settings s = settings_after("--port 53");

    (void)state;
    assert_false(s.flag);
    assert_int_equal(s.counter, 40);
    assert_int_equal(s.count, 7);
    assert_int_equal(s.automatic, 3);
    assert_int_equal(s.choice, 2);
    assert_null(s.text);
    assert_int_equal(s.port, 53);
}

static void a_bad_value_is_named_with_its_option_and_what_is_accepted(void **state)
{
    static const struct {
        const char *option, *accepted;
        const char *values[10];
    } cases[] = {
        {"--count", "1,000,000", {"x", "", "-1", "1", "0", "1000001", "2M", "1.5", "5x", "0x10"}},
        {"--unlimited", "whole number", {"x", "", "-1", "1.5", "18446744073709551616"}},
        {"--automatic", "auto", {"0", "65", "automatic", "AUTO", "", "-1"}},
        {"--automatic", "64", {"0"}},
        {"--bytes", "1.00 MiB", {"1023", "1048577", "1GiB", "x", "", "-1024", "4096b"}},
        {"--duration", "3,600 s", {"999ns", "3601", "2h", "5y", "", "-1s"}},
        {"--rate", "per second", {"x", "", "-1", "nan", "inf", "1x"}},
        {"--port", "65535", {"0", "65536", "x", "", "-1", "53x", "4294967297"}},
        {"--text", "not empty", {""}},
        {"--choice-with-quite-a-long-name",
         "first|second|third",
         {"fourth", "", "firs", "firstt", "First", "first|second", "|"}},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        for (size_t k = 0; k < N_OF(cases[i].values) && cases[i].values[k] != NULL; k++) {
            char line[LINE_BYTES], quoted[LINE_BYTES];

            snprintf(line, sizeof line, "%s=%s", cases[i].option, cases[i].values[k]);
            snprintf(quoted, sizeof quoted, "'%s'", cases[i].values[k]);
            assert_refused(line, cases[i].option, quoted, cases[i].accepted);
        }
    }
    assert_refused("-c x", "--count", "'x'", "1,000,000");
    assert_refused("-fcx", "--count", "'x'", "1,000,000");
    assert_refused("-f host -p 0 -v", "--port", "'0'", "65535");
}

static void a_bad_value_leaves_its_field_as_before(void **state)
{
    static const char *const lines[] = {"--count=x", "--count=1", "--automatic=0",
                                        "--choice-with-quite-a-long-name=fourth"};

    (void)state;
    for (size_t i = 0; i < N_OF(lines); i++) {
        struct run r;

        init(&r);
        parse(&r, lines[i]);
        assert_int_equal(r.result, OPTIONS_USAGE);
        assert_int_equal(r.settings.count, 7);
        assert_int_equal(r.settings.automatic, 3);
        assert_int_equal(r.settings.choice, 2);
        free(r.output);
    }
}

static void a_long_bad_value_leaves_room_for_what_is_accepted(void **state)
{
    char line[LINE_BYTES], nines[401];

    (void)state;
    memset(nines, '9', sizeof nines - 1);
    nines[sizeof nines - 1] = '\0';
    snprintf(line, sizeof line, "--count=%s", nines);
    assert_refused(line, "--count", "'99999999", "1,000,000");
    snprintf(line, sizeof line, "--%s", nines);
    assert_refused(line, "--99999999", "unknown", "--help");
}

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
            assert_string_equal(r.argv[r.first_operand + n], cases[i].operands[n]);
        assert_int_equal(r.argc - r.first_operand, n);
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

        assert_int_equal(r.given[i], named ? OPTIONS_COMMAND_LINE : OPTIONS_NOWHERE);
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
        assert_int_equal(r.argc - r.first_operand, 1);
        assert_string_equal(r.argv[r.first_operand], "host");
        for (size_t k = 0; k < N_OF(rows); k++)
            assert_int_equal(r.given[k] != OPTIONS_NOWHERE, strcmp(rows[k].name, "counter") == 0 ||
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
    char *output = NULL;
    size_t n_bytes = 0, column = 0;
    struct run r;
    FILE *out = open_memstream(&output, &n_bytes);

    (void)state;
    assert_non_null(out);
    init(&r);
    options_print_help(&r.options, out);
    assert_int_equal(fclose(out), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_read_with_their_units),
        cmocka_unit_test(other_values_are_read_by_their_kind),
        cmocka_unit_test(a_text_is_borrowed_from_the_command_line),
        cmocka_unit_test(what_is_not_named_keeps_its_default),
        cmocka_unit_test(a_bad_value_is_named_with_its_option_and_what_is_accepted),
        cmocka_unit_test(a_bad_value_leaves_its_field_as_before),
        cmocka_unit_test(a_long_bad_value_leaves_room_for_what_is_accepted),
        cmocka_unit_test(options_that_cannot_be_read_are_refused),
        cmocka_unit_test(operands_come_after_the_options),
        cmocka_unit_test(only_named_options_count_as_given),
        cmocka_unit_test(each_parse_begins_anew),
        cmocka_unit_test(help_has_every_row_within_100_columns),
        cmocka_unit_test(help_aligns_what_options_do),
        cmocka_unit_test(help_and_version_end_the_parsing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
