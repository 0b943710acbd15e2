/* SPDX-License-Identifier: MIT
 * test_settings: precedence of profile, file and command line, for both programs. */
#include "settings_steps.h"

#include "client/worker/config.h"

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

static void the_last_of_an_option_given_twice_counts(void **state)
{
    char line[LINE_BYTES];

    (void)state;
    write_file("connections = 7\n");
    snprintf(line, sizeof line, "--config /nonexistent -r 5 --assert lost=0 --config %s -r 6 host",
             path);
    assert_int_equal(parse(parse_client, line), OPTIONS_RUN);
    assert_int_equal(opts.connections, 7);
    assert_true(opts.rate_qps == 6);
    assert_int_equal(parse(parse_client, "-r 5 --assert lost=0,p50<1s --assert p99<1s -vv -v "
                                         "--profile nope --profile connscale-200k host"),
                     OPTIONS_RUN);
    assert_string_equal(opts.assertion, "p99<1s");
    assert_int_equal(opts.asserted.n, 1);
    assert_int_equal(opts.verbose, 3);
    assert_int_equal(opts.connections, 200000);
}

static void the_last_of_two_exclusive_options_counts(void **state)
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
    /* given in one source, they still do */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_sets_what_the_command_line_could),
        cmocka_unit_test(the_command_line_wins_over_the_file_wherever_it_stands),
        cmocka_unit_test(the_file_wins_over_the_profile),
        cmocka_unit_test(the_last_of_an_option_given_twice_counts),
        cmocka_unit_test(the_last_of_two_exclusive_options_counts),
        cmocka_unit_test(bad_lines_are_named_by_file_and_number),
        cmocka_unit_test(profiles_are_listed_and_unknown_ones_refused),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
