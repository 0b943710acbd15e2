/* SPDX-License-Identifier: MIT
 * test_client_opts_find: the options of a capacity search, and what they refuse. */
#include "client/opts_find.h"
#include "opts_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void without_a_search_nothing_changes(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 host"), OPTIONS_RUN);
    assert_int_equal(opts.find, CLIENT_FIND_NONE);
    assert_false(opts.reconnect);
}

static void a_rate_is_searched_within_its_range(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 50 --find rate --slo p99<10ms,lost<0.1% --find-range 0.5-1.5k "
                           "--find-width 2.5% --find-time 90s host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.find, CLIENT_FIND_RATE);
    assert_int_equal(opts.connections, 50);
    assert_true(opts.find_min == 0.5 && opts.find_max == 1500 && opts.find_part == 0.025);
    assert_int_equal(opts.goals.n, 2);
    assert_int_equal(opts.find_time_ns, 90000000000);
    assert_true(opts.reconnect);
    assert_int_equal(opts.waits.most_ns, 1000000000);
}

static void defaults_are_those_of_the_documents(void **state)
{
    (void)state;
    assert_int_equal(parse("--find rate --find-range 10-100 host"), OPTIONS_RUN);
    assert_int_equal(opts.goals.n, 1);
    assert_string_equal(opts.goals.goals[0].text, "lost=0");
    assert_true(opts.find_part == 0.02);
    assert_int_equal(opts.find_time_ns, 420000000000);
    assert_int_equal(parse("--find rate --find-range 10-100 --backoff 1s-9s host"), OPTIONS_RUN);
    assert_int_equal(opts.waits.most_ns, 9000000000);
}

static void connections_start_at_a_hundredth_of_the_range(void **state)
{
    (void)state;
    assert_int_equal(parse("--find connections -r 100 --find-range 5-40k host"), OPTIONS_RUN);
    assert_int_equal(opts.connections, 400);
    assert_int_equal(opts.max_connections, 40000);
    assert_int_equal(parse("--find connections -r 100 --find-range 500-40k host"), OPTIONS_RUN);
    assert_int_equal(opts.connections, 500);
}

static void connections_start_with_one_per_thread(void **state)
{
    (void)state;
    assert_int_equal(parse("--find connections -r 100 --find-range 1-20 --threads 5 host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.connections, 5);
    assert_int_equal(opts.max_connections, 20);
    assert_int_equal(parse("--find connections -r 100 --find-range 1-20 --threads 20 host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.connections, 20);
    assert_int_equal(parse("--find connections -r 100 --find-range 1-20 --threads 21 host"),
                     OPTIONS_USAGE);
    assert_non_null(strstr(error, "--threads: invalid value '21'"));
    assert_non_null(strstr(error, "(20)"));
}

static void connections_per_second_have_room_for_two_seconds(void **state)
{
    (void)state;
    assert_int_equal(parse("--find connect-rate --find-range 10-5k --slo connect.p99<9ms host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.find, CLIENT_FIND_CONNECT_RATE);
    assert_int_equal(opts.connections, 10000);
    assert_int_equal(opts.timeout_ns, 3000000000);
    assert_int_equal(opts.connect_timeout_ns, 3000000000);
    assert_int_equal(parse("--find connect-rate --find-range 10-50 --timeout 1s host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.connections, 1000);
    assert_int_equal(opts.timeout_ns, 1000000000);
    assert_int_equal(parse("--find connect-rate --find-range 10-50k --max-connections 30k "
                           "--connect-arrival constant host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.connections, 30000);
    assert_int_equal(opts.arrival, 1);
}

static void a_sweep_begins_with_its_first_value(void **state)
{
    (void)state;
    assert_int_equal(parse("--find rate --find-range 1-2 --sweep connections=100,1k,10k host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.sweep_axis, CLIENT_SWEEP_CONNECTIONS);
    assert_int_equal(opts.n_sweep, 3);
    assert_int_equal(opts.sweep_values[2], 10000);
    assert_int_equal(opts.connections, 100);
    assert_int_equal(opts.max_connections, 10000);
    assert_int_equal(parse("--find rate --find-range 1-2 --sweep queries-per-conn=1,10 host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.queries_per_conn, 1);
    assert_int_equal(parse("--find rate --find-range 1-2 --protocol echo --sweep size=64,1k host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.size_bytes, 64);
    assert_int_equal(opts.sweep_values[1], 1000);
}

/* With a limit above the timeout, slower answers would miss it, as if the timeout were the limit.
 */
static void no_limit_exceeds_the_timeout(void **state)
{
    static const struct {
        const char *line, *error; /* NULL: none */
    } cases[] = {
        {"--find rate --slo p99<5s", NULL},
        {"--find rate --slo p50<1s,p99<5001ms",
         "--slo: 'p99<5001ms' requires a longer --timeout: whatever takes more than 5s is given "
         "up"},
        {"--find rate --slo p99<10s --timeout 10s", NULL},
        {"--find rate --slo service.p99<2s --timeout 1s",
         "--slo: 'service.p99<2s' requires a longer --timeout: whatever takes more than 1s is "
         "given up"},
        {"--find connect-rate --slo p99<6s", NULL}, /* 3 s for the connection, 3 s for the answer */
        {"--find connect-rate --slo p99<7s",
         "--slo: 'p99<7s' requires a longer --timeout: whatever takes more than 6s is given up"},
        {"--find connect-rate --slo p99<9s --tls", NULL}, /* 3 s for the handshake, too */
        {"--find connect-rate --slo service.p99<4s",
         "--slo: 'service.p99<4s' requires a longer --timeout: whatever takes more than 3s is "
         "given up"},
        {"--find connect-rate --slo connect.p99<3s", NULL},
        {"--find connect-rate --slo connect.p99<4s",
         "--slo: 'connect.p99<4s' requires a longer --connect-timeout: whatever takes more than "
         "3s is given up"},
        {"--find connect-rate --slo connect.p99<4s --connect-timeout 4s", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[200];

        snprintf(line, sizeof line, "%s --find-range 1k-2k --find-time 1h host", cases[i].line);
        assert_int_equal(parse(line), cases[i].error != NULL ? OPTIONS_USAGE : OPTIONS_RUN);
        if (cases[i].error != NULL)
            assert_string_equal(error, cases[i].error);
    }
}

static void bad_searches_are_refused_by_name(void **state)
{
    static const struct {
        const char *line, *names[3];
    } bad[] = {
        {"--slo p99<1ms host", {"--slo", "--find"}},
        {"--find-range 1-2 host", {"--find-range", "--find"}},
        {"--find-width 3% host", {"--find-width", "--find"}},
        {"--find-time 5m host", {"--find-time", "--find"}},
        {"--find-out x host", {"--find-out", "--find"}},
        {"--find rate host", {"--find", "--find-range MIN-MAX"}},
        {"--find speed --find-range 1-2 host", {"--find", "'speed'", "connections"}},
        {"--find rate --find-range 5 host", {"--find-range", "'5'", "MIN-MAX"}},
        {"--find rate --find-range 5- host", {"--find-range", "'5-'", "MIN-MAX"}},
        {"--find rate --find-range 5-5 host", {"--find-range", "'5-5'", "MIN-MAX"}},
        {"--find rate --find-range 6-5 host", {"--find-range", "'6-5'"}},
        {"--find rate --find-range 0-5 host", {"--find-range", "'0-5'", "above 0"}},
        {"--find rate --find-range 1-2G host", {"--find-range", "'1-2G'", "1,000,000,000"}},
        {"--find rate --find-range 1-2-3 host", {"--find-range", "'1-2-3'"}},
        {"--find rate --find-range 1-2 --find-width 0.05% host",
         {"--find-width", "'0.05%'", "0.1%"}},
        {"--find rate --find-range 1-2 --find-width 3 host", {"--find-width", "'3'", "50%"}},
        {"--find rate --find-range 1-2 --slo p98<1ms host", {"--slo", "'p98<1ms'", "p999"}},
        {"--find rate --find-range 1-2 --slo connect.p99<1ms host",
         {"--slo", "connect.", "connect-rate"}},
        {"--find connect-rate --find-range 1-20 -r 5 host", {"--find", "--rate"}},
        {"--find connect-rate --find-range 1-20 -c 5 host", {"--find", "--connections"}},
        {"--find connect-rate --find-range 1-20 -n 5 host", {"--find", "--connect-rate"}},
        {"--find connect-rate --find-range 1-20 --prove no host",
         {"--find", "--prove: each connection sends one query"}},
        {"--find connect-rate --find-range 1-20 --connect-window 5 host",
         {"--find", "--connect-window", "--max-connections"}},
        {"--find connect-rate --find-range 1-20 --on-demand host",
         {"--find", "--on-demand", "the search opens the connections"}},
        {"--find connect-rate --find-range 1-20 --select random host", {"--select", "--find"}},
        {"--find connect-rate --find-range 1-20 --reconnect host", {"--reconnect", "--find"}},
        {"--find connect-rate --find-range 1-20 --backoff 1s-2s host", {"--backoff", "--find"}},
        {"--find connect-rate --find-range 1-20 --connect-arrival window host",
         {"--connect-arrival", "'window'", "--find"}},
        {"--sweep connections=1,2 host", {"--sweep", "--find"}},
        {"--sweep-out x host", {"--sweep-out"}},
        {"--find rate --find-range 1-2 --sweep-out x host", {"--sweep-out", "--sweep"}},
        {"--find rate --find-range 1-2 --sweep users=1,2 host", {"--sweep", "'users=1,2'", "size"}},
        {"--find rate --find-range 1-2 --sweep connections host", {"--sweep", "connections"}},
        {"--find rate --find-range 1-2 --sweep connections=5,5 host", {"--sweep", "increasing"}},
        {"--find rate --find-range 1-2 --sweep connections=0,5 host",
         {"--sweep", "'connections=0,5'"}},
        {"--find rate --find-range 1-2 --sweep connections= host", {"--sweep", "increasing"}},
        {"--find rate --find-range 1-2 --sweep connections=5,20M host", {"--sweep", "16,000,000"}},
        {"--find rate --find-range 1-2 -c 5 --sweep connections=5,6 host",
         {"--sweep", "--connections"}},
        {"--find rate --find-range 1-2 --sweep size=5,6 host", {"--sweep", "--protocol echo"}},
        {"--find connections -r 5 --find-range 1-20 --sweep connections=5,6 host",
         {"--sweep", "rate"}},
        {"--find rate --find-range 1-2 -r 5 host", {"--find", "--rate", "--find-range"}},
        {"--find rate --find-range 1-2 -i 5 host", {"--find", "--interval"}},
        {"--find rate --find-range 1-2 -t 5 host", {"--find", "--duration"}},
        {"--find rate --find-range 1-2 --warmup 5 host", {"--find", "--warmup"}},
        {"--find rate --find-range 1-2 --schedule 1s:5 host", {"--find", "--schedule"}},
        {"--find rate --find-range 1-2 --conn-schedule 1s:5 host", {"--find", "--conn-schedule"}},
        {"--find rate --find-range 1-2 --queries-per-conn 5 host",
         {"--find", "--queries-per-conn"}},
        {"--find rate --find-range 1-2 --protocol listen host", {"--find", "listen"}},
        {"--find connections --find-range 1-20 host", {"--find", "--rate"}},
        {"--find connections -r 5 -c 5 --find-range 1-20 host", {"--find", "--connections"}},
        {"--find connections -r 5 --find-range 1.5-20 host", {"--find-range", "whole"}},
        {"--find connections -r 5 --find-range 1-20M host", {"--find-range", "16,000,000"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        for (size_t n = 0; n < 3 && bad[i].names[n] != NULL; n++)
            if (strstr(error, bad[i].names[n]) == NULL)
                fail_msg("%s: no '%s' in: %s", bad[i].line, bad[i].names[n], error);
        assert_null(strchr(error, '\n'));
    }
}

/* On the command line, they cancel what a configuration file sets. */
static void options_that_are_turned_off_do_not_conflict(void **state)
{
    static const char *const lines[] = {
        "--find rate --find-range 1k-2k --warmup 0 --queries-per-conn 0 --rate 0 host",
        "--find rate --find-range 1k-2k --stdin=no --stdin-rateslope=no host",
        "--find connect-rate --find-range 1k-2k -r 0 -n 0 --warmup 0 --reconnect=no host",
        "--find connections -r 100 --find-range 5-500 --warmup 0s --queries-per-conn 0 host",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (parse(lines[i]) != OPTIONS_RUN)
            fail_msg("%s: %s", lines[i], error);
}

static void a_search_without_time_for_its_first_trial_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse("--find rate --slo p99<50ms --find-range 100-5k --find-time 15s host"),
                     OPTIONS_RUN);
    assert_int_equal(parse("--find rate --slo p99<50ms --find-range 100-5k --find-time 14s host"),
                     OPTIONS_USAGE);
    assert_string_equal(
        error, "--find-time: '14s' is too short: the first trial, 100 q/s, takes 10.0 s, and "
               "a confirmation follows: give at least 15s, or a --find-range with larger loads");
    assert_int_equal(parse("--find connections -r 10 --slo p99<50ms --find-range 5-500 "
                           "--find-time 90s host"),
                     OPTIONS_USAGE);
    assert_string_equal(
        error, "--find-time: '90s' is too short: the first trial, 5 connections, takes 100 "
               "s, and a confirmation follows: give at least 127s, or a higher --rate");
}

/* Not --connections, which conflicts with them. */
static void the_option_that_limits_connections_is_one_that_the_search_allows(void **state)
{
    (void)state;
    assert_string_equal(client_opts_limit_option(&(struct client_opts){.connections = 1}),
                        "connections");
    assert_string_equal(
        client_opts_limit_option(&(struct client_opts){.find = CLIENT_FIND_CONNECT_RATE}),
        "max-connections");
    assert_string_equal(
        client_opts_limit_option(&(struct client_opts){.find = CLIENT_FIND_CONNECTIONS}),
        "find-range");
    assert_string_equal(client_opts_limit_option(&(struct client_opts){
                            .find = CLIENT_FIND_RATE, .sweep_axis = CLIENT_SWEEP_CONNECTIONS}),
                        "sweep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_search_nothing_changes),
        cmocka_unit_test(a_rate_is_searched_within_its_range),
        cmocka_unit_test(defaults_are_those_of_the_documents),
        cmocka_unit_test(connections_start_at_a_hundredth_of_the_range),
        cmocka_unit_test(connections_start_with_one_per_thread),
        cmocka_unit_test(connections_per_second_have_room_for_two_seconds),
        cmocka_unit_test(a_sweep_begins_with_its_first_value),
        cmocka_unit_test(no_limit_exceeds_the_timeout),
        cmocka_unit_test(bad_searches_are_refused_by_name),
        cmocka_unit_test(options_that_are_turned_off_do_not_conflict),
        cmocka_unit_test(a_search_without_time_for_its_first_trial_is_refused),
        cmocka_unit_test(the_option_that_limits_connections_is_one_that_the_search_allows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
