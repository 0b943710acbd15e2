/* SPDX-License-Identifier: MIT
 * test_options_value: values of every kind, and the errors for bad ones. */
#include "options_steps.h"

#include "config/options_help.h"
#include "config/options_parse.h"
#include "config/options_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct settings settings_after(const char *line)
{
    struct run r;

    init(&r);
    parse(&r, line);
    assert_int_equal(r.result, OPTIONS_RUN);
    assert_string_equal(r.output, "");
    assert_int_equal(r.first_operand, r.words.argc);
    free(r.output);
    return r.settings;
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
    assert_true(settings_after("--rate 0.5").rate == 0.5);
    assert_true(settings_after("-r 20k").rate == 20000);
    assert_true(settings_after("-r 0").rate == 0);
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
    assert_ptr_equal(r.settings.text, r.words.argv[2]);
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
        {"--count",
         "expected a whole number such as 10, 1000 or 10k, from 2 to 1,000,000",
         {"x", "", "-1", "1", "0", "1000001", "2M", "1.5", "5x", "0x10"}},
        {"--unlimited",
         "expected a whole number such as 10, 1000, 10k or 1.5M",
         {"x", "", "-1", "1.5", "18446744073709551616"}},
        {"--automatic", "auto", {"0", "65", "automatic", "AUTO", "", "-1"}},
        {"--automatic", "64", {"0"}},
        {"--bytes",
         "expected a size in bytes such as 4096, 64KiB or 1M, from 1,024 to 1,048,576",
         {"1023", "1048577", "1GiB", "x", "", "-1024", "4096b"}},
        {"--duration",
         "expected a time such as 20us, 250ms, 1.5s or 2m, from 1us to 3600s",
         {"999ns", "3601", "2h", "5y", "", "-1s"}},
        {"--rate", "per second", {"x", "", "-1", "nan", "inf", "1x"}},
        {"--port",
         "expected a port from 1 to 65535",
         {"0", "65536", "x", "", "-1", "53x", "4294967297"}},
        {"--text", "non-empty", {""}},
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
