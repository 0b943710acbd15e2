/* SPDX-License-Identifier: MIT
 * test_server_opts: the command line of tcpserver. */
#include "server/opts.h"

#include "server/config.h"
#include "words_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct server_opts opts;
static char error[OPTIONS_ERROR_BYTES];

static enum options_result parse(const char *line)
{
    static struct words words;

    words_split(&words, "tcpserver", line);
    error[0] = '\0';
    return server_opts_parse(&opts, words.argc, words.argv, stdout, error);
}

static void without_arguments_it_listens_on_4242_of_both_families(void **state)
{
    (void)state;
    assert_int_equal(parse(""), OPTIONS_RUN);
    assert_int_equal(opts.port, 4242);
    assert_string_equal(opts.bind, "::");
    assert_false(opts.bind_given);
    assert_int_equal(opts.protocol, SERVER_ECHO);
    assert_int_equal(opts.threads, 0);
    assert_int_equal(opts.backlog, 4096);
    assert_int_equal(opts.max_connections, 0);
    assert_true(opts.push_rate_per_s == 0);
}

static void operand_is_the_port_and_zero_is_any(void **state)
{
    (void)state;
    assert_int_equal(parse("53"), OPTIONS_RUN);
    assert_int_equal(opts.port, 53);
    assert_int_equal(parse("0"), OPTIONS_RUN);
    assert_int_equal(opts.port, 0);
}

static void options_set_their_fields(void **state)
{
    (void)state;
    assert_int_equal(parse("--bind 127.0.0.1 --protocol ping --threads 4 --backlog 512 "
                           "--max-connections 100k --max-connections-per-source 1k "
                           "--idle-timeout 30s --stats-interval 5s --tls-cert c.pem "
                           "--tls-key k.pem --tls-min 1.3"),
                     OPTIONS_RUN);
    assert_string_equal(opts.bind, "127.0.0.1");
    assert_true(opts.bind_given);
    assert_int_equal(opts.protocol, SERVER_PING);
    assert_int_equal(opts.threads, 4);
    assert_int_equal(opts.backlog, 512);
    assert_int_equal(opts.max_connections, 100000);
    assert_int_equal(opts.max_per_source, 1000);
    assert_int_equal(opts.idle_timeout_ns, 30000000000);
    assert_int_equal(opts.stats_interval_ns, 5000000000);
    assert_string_equal(opts.tls_cert, "c.pem");
    assert_string_equal(opts.tls_key, "k.pem");
    assert_int_equal(opts.tls_min, TLS_MIN_1_3);
}

static void protocol_on_the_command_line_overrides_all_of_a_profiles_push(void **state)
{
    (void)state;
    assert_int_equal(parse("--profile subscribers-200k"), OPTIONS_RUN);
    assert_true(opts.push_rate_per_s == 200000);
    assert_int_equal(parse("--profile subscribers-200k --protocol ping"), OPTIONS_RUN);
    assert_true(opts.push_rate_per_s == 0);
    assert_int_equal(opts.protocol, SERVER_PING);
}

static void pushing_has_a_rate_a_size_and_a_choice(void **state)
{
    (void)state;
    assert_int_equal(parse("--push 200k"), OPTIONS_RUN);
    assert_true(opts.push_rate_per_s == 200000);
    assert_int_equal(opts.push_bytes, 512);
    assert_int_equal(opts.push_select, SERVER_SELECT_RANDOM);
    assert_int_equal(parse("--push 0.5 --push-size 1KiB --push-select round-robin"), OPTIONS_RUN);
    assert_true(opts.push_rate_per_s == 0.5);
    assert_int_equal(opts.push_bytes, 1024);
    assert_int_equal(opts.push_select, SERVER_SELECT_ROUND_ROBIN);
}

static void bad_input_is_refused_by_name(void **state)
{
    static const struct {
        const char *line, *named;
    } bad[] = {
        {"65536", "'65536'"},
        {"x", "'x'"},
        {"1 2", "'2' after '1'"},
        {"--threads 0", "--threads"},
        {"--backlog 0", "--backlog"},
        {"--protocol dns", "--protocol"},
        {"--max-connections", "--max-connections"},
        {"--push 0", "--push"},
        {"--push 2G", "--push"},
        {"--push 1 --push-size 63", "'63'"},
        {"--push 1 --protocol echo", "--protocol"},
        {"--push-size 64", "--push-size"},
        {"--push-select random", "--push-select"},
        {"--tls-key a", "--tls-key: requires --tls-cert"},
        {"--tls-min 1.3", "--tls-min"},
        {"--push 1 --tls-cert a", "--push: conflicts with --tls-cert"},
        {"--push 1 --tls-key a", "--push: conflicts with --tls-key"},
        {"--push 1 --tls-min 1.3", "--push: conflicts with --tls-min"},
        {"--push-size 64 --protocol ping",
         "--push-size: requires --push, which conflicts with --protocol"},
        {"--push-select random --idle-timeout 1s",
         "--push-select: requires --push, which conflicts with --idle-timeout"},
        {"--push 1 --idle-timeout 1s", "--push: conflicts with --idle-timeout"},
        {"--max-connections-per-source 0", "--max-connections-per-source"},
        {"--idle-timeout x", "--idle-timeout"},
        {"--proxy-protocol=v1", "--proxy-protocol"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        if (strstr(error, bad[i].named) == NULL)
            fail_msg("'%s': '%s' is not named in: %s", bad[i].line, bad[i].named, error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_arguments_it_listens_on_4242_of_both_families),
        cmocka_unit_test(operand_is_the_port_and_zero_is_any),
        cmocka_unit_test(options_set_their_fields),
        cmocka_unit_test(protocol_on_the_command_line_overrides_all_of_a_profiles_push),
        cmocka_unit_test(pushing_has_a_rate_a_size_and_a_choice),
        cmocka_unit_test(bad_input_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
