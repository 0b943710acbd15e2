/* SPDX-License-Identifier: MIT
 * test_print_config: --print-config is read back as a file, for every option of both programs; the
 * defaults that --help gives. */
#include "settings_steps.h"

#include "config/options_value.h"

enum { MOST_VALUES = 8 };

/* The text printed for these words gives, as a file, the same settings and the same text. */
static void assert_round_trip(parser *parse_with, int argc, char **argv)
{
    char *printed,
        *file_argv[] = {(char *)"tool", (char *)"--config", path, (char *)"--print-config", NULL};

    assert_int_equal(parse_words(parse_with, argc, argv), OPTIONS_EXIT);
    printed = strdup(output);
    assert_non_null(printed);
    write_file(printed);
    assert_int_equal(parse_words(parse_with, 4, file_argv), OPTIONS_EXIT);
    assert_string_equal(output, printed);
    free(printed);
}

/* Texts that are checked while parsing; "a b" would be invalid. */
static const char *text_of(const char *name)
{
    static const char *const texts[][2] = {
        {"backoff", "1s-2s"},      {"target", "h:99"},           {"start-at", "1800000000.25"},
        {"slo", "p99<5ms,lost=0"}, {"find-range", "5-1.5k"},     {"find-width", "2.5%"},
        {"watch", "unit:a b"},     {"sweep", "connections=1,2"}, {"assert", "p99<5ms,lost=0"}};

    for (size_t i = 0; i < N_OF(texts); i++)
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    return NULL;
}

/* Values for a row other than its default. */
static unsigned values_of(const struct option_row *row, char values[MOST_VALUES][LINE_BYTES])
{
    unsigned n = 0;

    switch (row->kind) {
    case OPTION_FLAG:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "yes") > 0);
    case OPTION_CHOICE:
        while (*options_choice(row->choices, (int)n, values[n], LINE_BYTES) != '\0') {
            n++;
            assert_true(n < MOST_VALUES);
        }
        return n;
    case OPTION_RATE:
        snprintf(values[0], LINE_BYTES, "0.1");
        snprintf(values[1], LINE_BYTES, "12345.678901");
        snprintf(values[2], LINE_BYTES, "1.5k");
        return 3;
    case OPTION_SHARE:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "1/3k") > 0);
    case OPTION_DURATION:
        snprintf(values[0], LINE_BYTES, "1.000001s");
        snprintf(values[1], LINE_BYTES, "90m");
        snprintf(values[2], LINE_BYTES, "123456789us");
        return 3;
    case OPTION_TEXT:
        if (text_of(row->name) != NULL)
            return (unsigned)(snprintf(values[0], LINE_BYTES, "%s", text_of(row->name)) > 0);
        snprintf(values[0], LINE_BYTES, "a b #\"c\\\"");
        snprintf(values[1], LINE_BYTES, "a\nb");
        return 2;
    case OPTION_COUNTER:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "1") > 0);
    case OPTION_PORT:
    case OPTION_ANY_PORT:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "4000") > 0);
    case OPTION_SECTION:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "name=a,share=100%%,rate=3") > 0);
    default:
        snprintf(values[0], LINE_BYTES, "%llu", (unsigned long long)(row->min > 0 ? row->min : 1));
        snprintf(values[1], LINE_BYTES, "4k");
        return row->max == 0 || row->max >= 4000 ? 2 : 1;
    }
}

/* Adds the settings that some options require.  Returns with how many of them the value is
 * accepted. */
static unsigned assert_value_comes_back(parser *parse_with, const struct option_row *row,
                                        const char *value)
{
    static const char *const with[] = {NULL,
                                       "--reconnect",
                                       "--on-demand",
                                       "--tls",
                                       "--tls-cert=x",
                                       "--raw",
                                       "--rate=5",
                                       "--interval=7ms",
                                       "--protocol=echo",
                                       "--push=5",
                                       "--profile=connscale-200k",
                                       "--connections=5k",
                                       "--control=unix:x",
                                       "--start-file=x",
                                       "--connect-rate=5",
                                       "--find=rate",
                                       "--proxy-protocol=v2",
                                       "--proxy-source=10.0.0.1"};
    char option[(MOST_VALUES + 1) * LINE_BYTES];
    unsigned n_accepted = 0;

    if (row->kind == OPTION_COUNTER)
        snprintf(option, sizeof option, "--%s", row->name);
    else
        snprintf(option, sizeof option, "--%s=%s", row->name, value);
    for (size_t b = 0; b < N_OF(with); b++) {
        char *argv[] = {(char *)"tool", (char *)"--print-config", option, (char *)with[b], NULL};
        const int argc = with[b] != NULL ? 4 : 3;

        if (parse_words(parse_with, argc, argv) != OPTIONS_EXIT)
            continue; /* they exclude each other */
        assert_round_trip(parse_with, argc, argv);
        n_accepted++;
    }
    return n_accepted;
}

static void assert_options_come_back(parser *parse_with, const struct options *table)
{
    char values[MOST_VALUES][LINE_BYTES];

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct option_row *row = &table->rows[i];
        const unsigned n_values = options_is_setting(row) ? values_of(row, values) : 0;

        assert_true(n_values > 0 || !options_is_setting(row));
        for (unsigned v = 0; v < n_values; v++)
            if (assert_value_comes_back(parse_with, row, values[v]) == 0)
                fail_msg("--%s: '%s' was never accepted: %s", row->name, values[v], error);
    }
}

static void every_option_of_tcpclient_comes_back(void **state)
{
    (void)state;
    assert_options_come_back(parse_client, client_opts_table());
}

static void every_option_of_tcpserver_comes_back(void **state)
{
    (void)state;
    assert_options_come_back(parse_server, server_opts_table());
}

/* Copies the default that a line of --help gives; false: it gives none, or the option is a text. */
static bool default_of(const struct option_row *row, char value[LINE_BYTES])
{
    const char *begin =
        row->kind != OPTION_TEXT && row->help != NULL ? strstr(row->help, "default: ") : NULL;

    if (begin == NULL)
        return false;
    begin += strlen("default: ");
    snprintf(value, LINE_BYTES, "%.*s", (int)strcspn(begin, ";)"), begin);
    return true;
}

/* Whether the default is set later, where it is needed: 0 is below the minimum. */
static bool is_set_later(const struct option_row *row, const void *settings)
{
    const bool has_minimum = row->kind == OPTION_COUNT || row->kind == OPTION_BYTES ||
                             row->kind == OPTION_DURATION; /* of type uint64_t */

    return has_minimum && row->min > 0 &&
           *(const uint64_t *)(const void *)((const char *)settings + row->offset) == 0;
}

/* Each default that is a value of its option is the one in `settings`.  Returns how many are. */
static unsigned assert_defaults(struct options *table, void *settings, size_t n_bytes)
{
    void *before = malloc(n_bytes);
    unsigned n = 0;

    assert_non_null(before);
    memcpy(before, settings, n_bytes);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct option_row *row = &table->rows[i];
        char value[LINE_BYTES];

        if (!default_of(row, value) || is_set_later(row, settings))
            continue;
        if (options_set(table, settings, row, value, OPTIONS_COMMAND_LINE, error) == 0)
            n++;
        else if (*value >= '0' && *value <= '9') /* not "none", "the kernel's" */
            fail_msg("--%s: no value: (default: %s)", row->name, value);
        if (memcmp(settings, before, n_bytes) != 0)
            fail_msg("--%s: not the default: %s", row->name, value);
    }
    free(before);
    return n;
}

static void help_gives_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(parse_client, "host"), OPTIONS_RUN);
    assert_in_range(assert_defaults(client_opts_table(), &opts, sizeof opts), 30, 100);
    assert_int_equal(parse(parse_server, ""), OPTIONS_RUN);
    assert_in_range(assert_defaults(server_opts_table(), &server, sizeof server), 9, 100);
}

static void what_is_not_given_is_printed_as_a_comment(void **state)
{
    (void)state;
    assert_int_equal(parse(parse_client, "-i 20s -c 7 --print-config ::1"), OPTIONS_EXIT);
    assert_non_null(strstr(output, "\ninterval = 20s\n"));
    assert_non_null(strstr(output, "\n# arrival = constant\n")); /* set by -i */
    assert_non_null(strstr(output, "\ntarget = ::1\n"));
    assert_non_null(strstr(output, "\nconnections = 7\n"));
    assert_non_null(strstr(output, "# Load\n# rate = 0\n"));
    assert_null(strstr(output, "\nprint-config"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_of_tcpclient_comes_back),
        cmocka_unit_test(every_option_of_tcpserver_comes_back),
        cmocka_unit_test(help_gives_the_defaults),
        cmocka_unit_test(what_is_not_given_is_printed_as_a_comment),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
