/* SPDX-License-Identifier: MIT
 * test_options_config: settings of a file, those printed for one, and which of two sources counts.
 */
#include "config/options_config.h"

#include "config/options.h"
#include "config/options_section.h"
#include "config/options_value.h"
#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array)  (sizeof(array) / sizeof *(array))
#define FIELD(field) offsetof(struct settings, field)

struct settings {
    bool flag, command;
    unsigned counter;
    uint64_t count, automatic, share, duration;
    double rate;
    uint16_t ports[2];
    const char *text;
    int choice;
    struct options_sections sections;
};

static const struct option_row rows[] = {
    {"All", 0, OPTION_HEADING, 0, NULL, NULL, 0, 0, NULL},
    {"flag", 0, OPTION_FLAG, FIELD(flag), NULL, "", 0, 0, NULL},
    {"counter", 0, OPTION_COUNTER, FIELD(counter), NULL, "", 0, 0, NULL},
    {"count", 0, OPTION_COUNT, FIELD(count), "N", "", 2, 1000, NULL},
    {"automatic", 0, OPTION_AUTO, FIELD(automatic), "N", "", 1, 64, NULL},
    {"share", 0, OPTION_SHARE, FIELD(share), "1/N", "", 1, 0, NULL},
    {"duration", 0, OPTION_DURATION, FIELD(duration), "TIME", "", 1, 0, NULL},
    {"rate", 0, OPTION_RATE, FIELD(rate), "QPS", "", 2, 1000, NULL},
    {"port", 0, OPTION_ANY_PORT, FIELD(ports[0]), "PORT", "", 0, 0, NULL},
    {"text", 0, OPTION_TEXT, FIELD(text), "TEXT", "", 0, 0, NULL},
    {"choice", 0, OPTION_CHOICE, FIELD(choice), "WHICH", "", 0, 0, "first|second"},
    {"kind", 0, OPTION_SECTION, FIELD(sections), "SETTINGS", "", 0, 0, NULL},
    {"command", 0, OPTION_COMMAND, FIELD(command), NULL, "", 0, 0, NULL},
};
static const struct settings defaults = {.counter = 1, .ports = {1, 2}, .text = "none"};

static unsigned char given[N_OF(rows)];
static struct options table = {
    .program = "tool", .rows = rows, .n_rows = N_OF(rows), .given = given};
static struct settings settings;
static char file[256], error[OPTIONS_ERROR_BYTES];

static void begin(void)
{
    settings = defaults;
    memset(given, OPTIONS_DEFAULT, sizeof given);
}

static int read_file(const char *text)
{
    begin();
    snprintf(file, sizeof file, "%s", text);
    table.texts[OPTIONS_FILE] = (struct options_text){"f", file};
    return options_read_text(&table, &settings, OPTIONS_FILE, error);
}

static void set(const char *name, const char *value, enum options_source source)
{
    assert_int_equal(
        options_set(&table, &settings, options_row(&table, name), value, source, error), 0);
}

static void limits_of_numbers_are_valid_and_others_are_not(void **state)
{
    static const char *const good[] = {"rate = 2", "rate = 1k", "counter = 65535"};
    static const char *const bad[] = {"rate = 1.9", "rate = 1001", "counter = 65536"};

    (void)state;
    for (size_t i = 0; i < N_OF(good); i++)
        assert_int_equal(read_file(good[i]), 0);
    assert_int_equal(settings.counter, 65535);
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(read_file(bad[i]), -1);
}

static void a_flag_that_is_off_counts_as_not_given(void **state)
{
    (void)state;
    assert_int_equal(read_file("flag = yes"), 0);
    assert_true(settings.flag && options_was_given(&table, "flag"));
    assert_int_equal(read_file("flag = no"), 0);
    assert_false(settings.flag || options_was_given(&table, "flag"));
}

static void a_file_may_only_have_settings(void **state)
{
    (void)state;
    assert_int_equal(read_file("\ncommand = yes"), -1);
    assert_string_equal(error, "f:2: command: only valid on the command line: see --help");
    assert_false(settings.command);
}

static void a_bad_value_is_named_with_its_line_and_what_is_accepted(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"count", "f:1: count: missing value N"},
        {"counter = x", "f:1: counter: invalid value 'x': expected a whole number such as 1"},
        {"automatic = x",
         "f:1: automatic: invalid value 'x': expected auto or a whole number, from 1 to 64"},
        {"share = 2", "f:1: share: invalid value '2': expected a fraction such as 1/100 or 1/1k"},
        {"port = 65536", "f:1: port: invalid value '65536': expected a port from 0 to 65535"},
        {"flag = maybe", "f:1: flag: invalid value 'maybe': expected yes or no"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(read_file(cases[i].line), -1);
        assert_string_equal(error, cases[i].error);
    }
}

static void values_are_printed_as_they_are_read(void **state)
{
    static const char *const lines[] = {
        "automatic = auto", "automatic = 5",     "share = 1/3000", "duration = 90s",
        "rate = 2.1",       "rate = 345.678901", "count = 1000",   "counter = 7",
        "text = a",         "choice = second",   "port = 0",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(lines); i++) {
        char *text, line[64];

        assert_int_equal(read_file(lines[i]), 0);
        options_print_config(&table, &settings, print_open());
        text = print_close();
        snprintf(line, sizeof line, "\n%s\n", lines[i]);
        if (strstr(text, line) == NULL)
            fail_msg("no '%s' in: %s", lines[i], text);
        free(text);
    }
}

/* With a value that would be refused if it were read. */
static void a_setting_without_a_value_is_printed_as_a_comment(void **state)
{
    char *text;

    (void)state;
    begin();
    set("kind", "count=1,text=a", OPTIONS_COMMAND_LINE);
    set("choice", "second", OPTIONS_COMMAND_LINE);
    options_print_config(&table, &settings, print_open());
    text = print_close();
    assert_string_equal(text, "# All\n"
                              "# flag = no\n"
                              "# counter = 1\n"
                              "# count =\n"
                              "# automatic = auto\n"
                              "# share =\n"
                              "# duration =\n"
                              "# rate = 0\n"
                              "# port = 1\n"
                              "# text = none\n"
                              "choice = second\n"
                              "\n[kind]\ncount=1\ntext=a\n");
    free(text);
}

static void outrank(const char *a, const char *b)
{
    options_outrank(&table, &settings, &defaults, a, b);
    options_outrank(&table, &settings, &defaults, b, a);
}

/* Only the option's own field is reset. */
static void an_overridden_option_counts_as_not_given(void **state)
{
    (void)state;
    begin();
    set("count", "5", OPTIONS_FILE);
    set("port", "7", OPTIONS_FILE);
    settings.ports[1] = 8;
    settings.text = "derived";
    set("counter", "9", OPTIONS_PROFILE);
    outrank("text", "port");  /* one was not given */
    outrank("count", "port"); /* they conflict: not resolved here */
    assert_string_equal(settings.text, "derived");
    assert_true(options_was_given(&table, "count") && options_was_given(&table, "port"));
    set("text", "a", OPTIONS_COMMAND_LINE);
    outrank("text", "port");
    outrank("counter", "text");
    assert_string_equal(settings.text, "a");
    assert_int_equal(settings.count, 5);
    assert_int_equal(settings.ports[0], 1);
    assert_int_equal(settings.ports[1], 8);
    assert_int_equal(settings.counter, 1);
    assert_false(options_was_given(&table, "port") || options_was_given(&table, "counter"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_numbers_are_valid_and_others_are_not),
        cmocka_unit_test(a_flag_that_is_off_counts_as_not_given),
        cmocka_unit_test(a_file_may_only_have_settings),
        cmocka_unit_test(a_bad_value_is_named_with_its_line_and_what_is_accepted),
        cmocka_unit_test(values_are_printed_as_they_are_read),
        cmocka_unit_test(a_setting_without_a_value_is_printed_as_a_comment),
        cmocka_unit_test(an_overridden_option_counts_as_not_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
