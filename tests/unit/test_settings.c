/* SPDX-License-Identifier: MIT
 * test_settings: precedence of profile, file and command line; --print-config is read back, for
 * every option of both programs. */
#include "client/opts.h"
#include "client/worker/config.h"
#include "config/settings.h"
#include "server/opts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { LINE_BYTES = 256, MOST_WORDS = 16, PATH_BYTES = 64 };

static struct client_opts opts;
static struct server_opts server;
static char error[OPTIONS_ERROR_BYTES], *output, path[PATH_BYTES];

typedef enum options_result parser(int argc, char **argv, FILE *out);

static enum options_result parse_client(int argc, char **argv, FILE *out)
{
    return client_opts_parse(&opts, argc, argv, out, error);
}

static enum options_result parse_server(int argc, char **argv, FILE *out)
{
    return server_opts_parse(&server, argc, argv, out, error);
}

static enum options_result parse_words(parser *parse, int argc, char **argv)
{
    size_t n_bytes = 0;
    FILE *out;
    enum options_result result;

    free(output);
    output = NULL;
    out = open_memstream(&output, &n_bytes);
    assert_non_null(out);
    error[0] = '\0';
    result = parse(argc, argv, out);
    assert_int_equal(fclose(out), 0);
    return result;
}

/* Parses the words of a line, separated by single blanks. */
static enum options_result parse(parser *parse_with, const char *line)
{
    static char words[LINE_BYTES];
    char *argv[MOST_WORDS] = {(char *)"tool"}, *rest = words;
    int argc = 1;

    assert_in_range(snprintf(words, sizeof words, "%s", line), 0, LINE_BYTES - 1);
    while (argc < MOST_WORDS - 1 && (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    return parse_words(parse_with, argc, argv);
}

static void write_file(const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* Parses a file of this text and then these words. */
static enum options_result parse_with_file(parser *parse_with, const char *text, const char *words)
{
    char line[LINE_BYTES];

    write_file(text);
    snprintf(line, sizeof line, "--config %s%s%s", path, *words != '\0' ? " " : "", words);
    return parse(parse_with, line);
}

static int make_path(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof path, "/tmp/tcpscaler-test-XXXXXX");
    fd = mkstemp(path);
    return fd >= 0 ? close(fd) : -1;
}

static int remove_path(void **state)
{
    (void)state;
    free(output);
    return unlink(path);
}

static void a_file_sets_what_the_command_line_could(void **state)
{
    (void)state;
    assert_int_equal(parse_with_file(parse_client,
                                     "# a run\n"
                                     "target = host:53\n"
                                     "\n"
                                     "rate=20k   # q/s\n"
                                     "duration = 1.5\n"
                                     "raw\n"
                                     "kernel-ts = yes\n"
                                     "quickack = no\n"
                                     "verbose = 2\r\n"
                                     "qname = a#b",
                                     ""),
                     OPTIONS_RUN);
    assert_string_equal(opts.server.host, "host");
    assert_int_equal(opts.server.port, 53);
    assert_true(opts.rate_qps == 20000);
    assert_int_equal(opts.duration_ns, 1500000000);
    assert_true(opts.raw);
    assert_int_equal(opts.kernel_ts, CLIENT_KERNEL_TS_YES);
    assert_false(opts.quickack);
    assert_int_equal(opts.verbose, 2);
    assert_string_equal(opts.qname, "a#b");
    assert_int_equal(parse_with_file(parse_server, "port = 0\nbind = ::1\n", ""), OPTIONS_RUN);
    assert_int_equal(server.port, 0);
    assert_true(server.bind_given);
}

static void the_command_line_wins_over_the_file_wherever_it_stands(void **state)
{
    char line[LINE_BYTES];

    (void)state;
    write_file("connections = 7\nthreads = 2\nraw = yes\ntarget = host:53\n");
    snprintf(line, sizeof line, "-c 9 --raw=no --config %s other", path);
    assert_int_equal(parse(parse_client, line), OPTIONS_RUN);
    assert_int_equal(opts.connections, 9);
    assert_int_equal(opts.threads, 2);
    assert_false(opts.raw);
    assert_string_equal(opts.server.host, "other");
    snprintf(line, sizeof line, "--config %s -c 9 --raw=no -p 54", path);
    assert_int_equal(parse(parse_client, line), OPTIONS_RUN);
    assert_int_equal(opts.connections, 9);
    assert_string_equal(opts.server.host, "host");
    assert_int_equal(opts.server.port, 54);
}

static void the_file_wins_over_the_profile(void **state)
{
    (void)state;
    assert_int_equal(parse(parse_client, "--profile connscale-200k host"), OPTIONS_RUN);
    assert_int_equal(opts.connections, 200000);
    assert_int_equal(opts.interval_ns, 20000000000);
    assert_int_equal(parse_with_file(parse_client, "connections = 300\ntimeout = 1s\n",
                                     "--profile connscale-200k --timeout 2s host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.connections, 300);
    assert_int_equal(opts.timeout_ns, 2000000000);
    assert_int_equal(opts.interval_ns, 20000000000);
}

static void what_excludes_each_other_is_what_was_given_last(void **state)
{
    (void)state;
    assert_int_equal(parse(parse_client, "--profile connscale-200k -r 5 host"), OPTIONS_RUN);
    assert_int_equal(opts.interval_ns, 0);
    assert_true(client_opts_rate_qps(&opts) == 5);
    assert_int_equal(opts.arrival, 0); /* Poisson: no interval is left */
    assert_int_equal(
        parse_with_file(parse_client, "rate = 5\nduration = 3\n", "--schedule 1s:7 host"),
        OPTIONS_RUN);
    assert_true(client_opts_rate_qps(&opts) == 0);
    assert_int_equal(opts.duration_ns, 0);
    assert_int_equal(parse_with_file(parse_client, "port = 53\n", "host:54"), OPTIONS_RUN);
    assert_int_equal(opts.server.port, 54);
    /* given in one place, they still do */
    assert_int_equal(parse_with_file(parse_client, "rate = 5\ninterval = 3\n", "host"),
                     OPTIONS_USAGE);
    assert_int_equal(parse_with_file(parse_client, "target = h:5\nport = 53\n", ""), OPTIONS_USAGE);
    /* a flag that is off excludes nothing */
    assert_int_equal(parse_with_file(parse_client, "rate = 5\nstdin = no\n", "host"), OPTIONS_RUN);
    assert_int_equal(parse_with_file(parse_client, "rate = 5\n", "--stdin=no host"), OPTIONS_RUN);
    assert_true(client_opts_rate_qps(&opts) == 5);
}

static void bad_lines_are_named_by_file_and_number(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *problem;
    } cases[] = {
        {"conections = 5\n", 1, "conections: unknown option, did you mean 'connections'?"},
        {"rat = 5\n", 1, "rat: unknown option, did you mean 'rate'?"},
        {"Load = 5\n", 1, "Load: unknown option"},
        {"\n\nrate = x\n", 3, "rate: invalid value 'x': expected a number"},
        {"# x\nconnections = 0", 2, "invalid value '0'"},
        {"raw = 1\n", 1, "yes or no"},
        {"verbose = x\n", 1, "invalid value 'x'"},
        {"rate\n", 1, "missing value QPS"},
        {"rate 5\n", 1, "missing '='"},
        {"qname = \"\"\n", 1, "non-empty"},
        {"help\n", 1, "only valid on the command line"},
        {"config = x\n", 1, "only valid on the command line"},
        {"profile = connscale-200k\n", 1, "only valid on the command line"},
        {"print-config\n", 1, "only valid on the command line"},
        {"--rate = 5\n", 1, "--rate: unknown option"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char where[PATH_BYTES + 16];

        snprintf(where, sizeof where, "%s:%u: ", path, cases[i].line);
        assert_int_equal(parse_with_file(parse_client, cases[i].text, "host"), OPTIONS_USAGE);
        assert_ptr_equal(strstr(error, where), error);
        assert_non_null(strstr(error, cases[i].problem));
        assert_null(strchr(error, '\n'));
    }
    assert_int_equal(parse(parse_client, "--config /nonexistent host"), OPTIONS_USAGE);
    assert_non_null(strstr(error, "--config: cannot read '/nonexistent'"));
    assert_int_equal(parse(parse_client, "--config /nonexistent --version"), OPTIONS_USAGE);
    assert_int_equal(parse(parse_client, "--version --config /nonexistent"), OPTIONS_EXIT);
}

static void profiles_are_listed_and_unknown_ones_refused(void **state)
{
    (void)state;
    assert_int_equal(parse(parse_client, "--profile list"), OPTIONS_EXIT);
    assert_non_null(strstr(output, "\ntcpscaler-300k "));
    assert_int_equal(parse(parse_server, "--profile nope"), OPTIONS_USAGE);
    assert_non_null(strstr(error, "--profile: invalid value 'nope'"));
    assert_non_null(strstr(error, "connscale-200k"));
}

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
    static const char *const texts[][2] = {{"backoff", "1s-2s"},          {"target", "h:99"},
                                           {"start-at", "1800000000.25"}, {"slo", "p99<5ms,lost=0"},
                                           {"find-range", "5-1.5k"},      {"find-width", "2.5%"},
                                           {"watch", "unit:a b"},

                                           {"sweep", "connections=1,2"}};

    for (size_t i = 0; i < N_OF(texts); i++)
        if (strcmp(texts[i][0], name) == 0)
            return texts[i][1];
    return NULL;
}

/* Values for a row other than its default. */
static unsigned values_of(const struct option_row *row, char values[4][LINE_BYTES])
{
    char *const choices[] = {values[0], values[1], values[2], values[3]};
    unsigned n = 0;

    switch (row->kind) {
    case OPTION_FLAG:
        return (unsigned)(snprintf(values[0], LINE_BYTES, "yes") > 0);
    case OPTION_CHOICE:
        while (n < 4 && *options_choice(row, (int)n, choices[n], LINE_BYTES) != '\0')
            n++;
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
    default:
        snprintf(values[0], LINE_BYTES, "%llu", (unsigned long long)(row->min > 0 ? row->min : 1));
        snprintf(values[1], LINE_BYTES, "4k");
        return row->max == 0 || row->max >= 4000 ? 2 : 1;
    }
}

/* Adds the settings that some options require. */
static void assert_options_come_back(parser *parse_with, const struct options *table)
{
    static const char *const beside[] = {NULL,
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
    char values[4][LINE_BYTES], option[5 * LINE_BYTES];

    for (size_t i = 0; i < table->n_rows; i++) {
        const struct option_row *row = &table->rows[i];
        unsigned n_tried = 0, n_values = options_is_setting(row) ? values_of(row, values) : 0;

        for (unsigned v = 0; v < n_values; v++)
            for (size_t b = 0; b < N_OF(beside); b++) {
                char *argv[] = {(char *)"tool", (char *)"--print-config", option, (char *)beside[b],
                                NULL};
                const int argc = beside[b] != NULL ? 4 : 3;

                if (row->kind == OPTION_COUNTER)
                    snprintf(option, sizeof option, "--%s", row->name);
                else
                    snprintf(option, sizeof option, "--%s=%s", row->name, values[v]);
                if (parse_words(parse_with, argc, argv) != OPTIONS_EXIT)
                    continue; /* they exclude each other */
                assert_round_trip(parse_with, argc, argv);
                n_tried++;
            }
        if (options_is_setting(row) && n_tried < n_values)
            fail_msg("--%s: only %u of its values were tried: %s", row->name, n_tried, error);
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
        cmocka_unit_test(a_file_sets_what_the_command_line_could),
        cmocka_unit_test(the_command_line_wins_over_the_file_wherever_it_stands),
        cmocka_unit_test(the_file_wins_over_the_profile),
        cmocka_unit_test(what_excludes_each_other_is_what_was_given_last),
        cmocka_unit_test(bad_lines_are_named_by_file_and_number),
        cmocka_unit_test(profiles_are_listed_and_unknown_ones_refused),
        cmocka_unit_test(every_option_of_tcpclient_comes_back),
        cmocka_unit_test(every_option_of_tcpserver_comes_back),
        cmocka_unit_test(what_is_not_given_is_printed_as_a_comment),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
