/* SPDX-License-Identifier: MIT
 * test_options_section: sections of a file and repeated options, read with a table of their own. */
#include "config/options_section.h"

#include "config/options_config.h"
#include "config/options_parse.h"
#include "config/options_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct settings {
    uint64_t before;
    struct options_sections sections;
};

struct own {
    uint64_t count;
    const char *text, *name;
};

static const struct option_row rows[] = {
    {"before", 0, OPTION_COUNT, offsetof(struct settings, before), "N", "", 0, 0, NULL},
    {"kind", 0, OPTION_SECTION, offsetof(struct settings, sections), "SETTINGS", "", 0, 0, NULL},
};
static const struct option_row own_rows[] = {
    {"count", 0, OPTION_COUNT, offsetof(struct own, count), "N", "", 0, 0, NULL},
    {"text", 0, OPTION_TEXT, offsetof(struct own, text), "TEXT", "", 0, 0, NULL},
    {"name", 0, OPTION_TEXT, offsetof(struct own, name), "NAME", "", 0, 0, NULL},
};

static unsigned char given[2], own_given[3];
static struct options table = {.program = "tool", .rows = rows, .n_rows = 2, .given = given};
static struct options own_table = {
    .program = "tool", .rows = own_rows, .n_rows = 3, .given = own_given};
static struct settings settings;
static struct own own;
static char file[512], copy[512], error[OPTIONS_ERROR_BYTES];

static int read_file(const char *text)
{
    snprintf(file, sizeof file, "%s", text);
    settings = (struct settings){0};
    memset(given, 0, sizeof given);
    table.texts[OPTIONS_FILE] = (struct options_text){"f", file};
    return options_read_text(&table, &settings, OPTIONS_FILE, error);
}

static int read_own(unsigned i)
{
    const struct options_section *s = &settings.sections.items[i];

    snprintf(copy, sizeof copy, "%s", s->text);
    own = (struct own){0};
    memset(own_given, 0, sizeof own_given);
    return options_read_section(s, copy, &own_table, &own, error);
}

static void sections_end_at_the_next_one(void **state)
{
    (void)state;
    assert_int_equal(
        read_file("before = 5\n\n  [kind a] # first\ncount = 1\n# none\n\n[ kind  b ] \r\n"
                  "text = \"x, y\"\r\ncount=2"),
        0);
    assert_int_equal(settings.before, 5);
    assert_int_equal(settings.sections.n, 2);
    assert_string_equal(settings.sections.items[0].name, "a");
    assert_int_equal(read_own(0), 0);
    assert_int_equal(own.count, 1);
    assert_null(own.text);
    assert_string_equal(settings.sections.items[1].name, "b");
    assert_int_equal(read_own(1), 0);
    assert_int_equal(own.count, 2);
    assert_string_equal(own.text, "x, y");
}

static void sections_may_be_empty_and_have_no_name(void **state)
{
    static const char *const texts[] = {"[kind]", "[kind]\n", "[kind]\n[kind]", "\n[ kind ]\n\n\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_file(texts[i]), 0);
        for (unsigned k = 0; k < settings.sections.n; k++) {
            assert_null(settings.sections.items[k].name);
            assert_int_equal(read_own(k), 0);
            assert_int_equal(own.count, 0);
        }
        assert_true(settings.sections.n > 0);
    }
}

static void bad_headers_and_bad_lines_are_named_by_their_number(void **state)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"\n[kind a\n", "f:2: invalid header '[kind a': expected [OPTION NAME]"},
        {"[kind a] b\n", "f:1: invalid header"},
        {"[kind a b ]\n", "f:1: invalid header '[kind a b ]': expected one NAME"},
        {"[other a]\n", "f:1: [other]: unknown section"},
        {"[before a]\n", "f:1: [before]: unknown section"},
        {"[]\n", "f:1: []: unknown section"},
        {"[kind a]\ncount = 1\n\n[else]\n", "f:4: [else]: unknown section"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_file(bad[i].text), -1);
        if (strstr(error, bad[i].error) == NULL)
            fail_msg("%s: %s", bad[i].text, error);
    }
    assert_int_equal(read_file("\n\n[kind a]\ncount = 1\n\ncount = x\n"), 0);
    assert_int_equal(read_own(0), -1);
    assert_non_null(strstr(error, "f:6: count: invalid value 'x'"));
}

static void repeated_options_of_the_command_line_replace_those_of_the_file(void **state)
{
    (void)state;
    assert_int_equal(read_file("[kind a]\ncount = 1\n[kind b]\n"), 0);
    assert_int_equal(
        options_set(&table, &settings, &rows[1], "count=7,text=z", OPTIONS_COMMAND_LINE, error), 0);
    assert_int_equal(
        options_set(&table, &settings, &rows[1], "count=8", OPTIONS_COMMAND_LINE, error), 0);
    assert_int_equal(settings.sections.n, 2);
    assert_int_equal(read_own(0), 0);
    assert_int_equal(own.count, 7);
    assert_string_equal(own.text, "z");
    assert_int_equal(read_own(1), 0);
    assert_int_equal(own.count, 8);
}

static void a_bad_setting_of_the_command_line_is_named_with_its_option_and_section(void **state)
{
    static const struct {
        const char *section, *error;
    } bad[] = {
        {"a=5", "--kind: a: unknown option: expected count, text, name"},
        {"name=x,count", "--kind: x: count: missing value N"},
        {"count, name = x ,name=y", "--kind: x: count: missing value N"},
        {"text=name=x,count", "--kind: count: missing value N"},
        {"name,name=,names=x,text=y,count", "--kind: name: missing value NAME"},
        {"a,name=a234567890b234567890c234567890d234567890e",
         "--kind: a234567890b234567890c234567890d234567890: a: unknown option: expected count, "
         "text, name"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_file(""), 0);
        assert_int_equal(
            options_set(&table, &settings, &rows[1], bad[i].section, OPTIONS_COMMAND_LINE, error),
            0);
        assert_int_equal(read_own(0), -1);
        assert_string_equal(error, bad[i].error);
    }
}

static void sections_and_their_settings_count_as_given_where_they_stand(void **state)
{
    (void)state;
    assert_int_equal(read_file("[kind a]\ncount = 1\n"), 0);
    assert_int_equal(options_given_at(&table, "kind"), OPTIONS_FILE);
    assert_int_equal(read_own(0), 0);
    assert_int_equal(options_given_at(&own_table, "count"), OPTIONS_FILE);
    assert_false(options_was_given(&own_table, "text"));
    assert_int_equal(
        options_set(&table, &settings, &rows[1], "count=7", OPTIONS_COMMAND_LINE, error), 0);
    assert_int_equal(options_given_at(&table, "kind"), OPTIONS_COMMAND_LINE);
    assert_int_equal(read_own(0), 0);
    assert_int_equal(options_given_at(&own_table, "count"), OPTIONS_COMMAND_LINE);
}

/* Behind all other settings, which would be taken as part of a section. */
static void printed_sections_are_read_back(void **state)
{
    char *text = NULL, again[512];
    size_t n_bytes;

    (void)state;
    assert_int_equal(read_file("[kind a]\ncount = 1 # one\n[kind]\ntext = \"#\"\n"), 0);
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text, &n_bytes);

        options_print_config(&table, &settings, out);
        fclose(out);
        if (i > 0)
            assert_string_equal(text, again);
        snprintf(again, sizeof again, "%s", text);
        free(text);
        assert_int_equal(read_file(again), 0);
        assert_int_equal(settings.sections.n, 2);
        assert_int_equal(read_own(1), 0);
        assert_string_equal(own.text, "#");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_end_at_the_next_one),
        cmocka_unit_test(sections_may_be_empty_and_have_no_name),
        cmocka_unit_test(bad_headers_and_bad_lines_are_named_by_their_number),
        cmocka_unit_test(repeated_options_of_the_command_line_replace_those_of_the_file),
        cmocka_unit_test(a_bad_setting_of_the_command_line_is_named_with_its_option_and_section),
        cmocka_unit_test(sections_and_their_settings_count_as_given_where_they_stand),
        cmocka_unit_test(printed_sections_are_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
