/* SPDX-License-Identifier: MIT
 * test_client_opts: the command line of tcpclient: defaults and rejected options. */
#include "base/units.h"
#include "net/tls_context.h"
#include "opts_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void defaults_are_those_of_the_documents(void **state)
{
    (void)state;
    assert_int_equal(parse("host"), OPTIONS_RUN);
    assert_string_equal(opts.server.host, "host");
    assert_int_equal(opts.server.port, 4242);
    assert_int_equal(opts.connections, 1);
    assert_int_equal(opts.seed, 42);
    assert_int_equal(opts.connect_window, 256);
    assert_int_equal(opts.connect_timeout_ns, 10000000000);
    assert_int_equal(opts.settle_ns, 200000000);
    assert_int_equal(opts.timeout_ns, 5000000000);
    assert_int_equal(opts.drain_ns, 5000000000);
    assert_int_equal(opts.duration_ns, 0);
    assert_true(client_opts_rate_qps(&opts) == 0);
    assert_false(opts.raw);
}

static void predecessors_command_line_is_understood(void **state)
{
    (void)state;
    assert_int_equal(parse("-p 53 -r 1000 -c 50 -n 200 -t 10 -s 7 -R -v ::1"), OPTIONS_RUN);
    assert_string_equal(opts.server.host, "::1");
    assert_int_equal(opts.server.port, 53);
    assert_true(client_opts_rate_qps(&opts) == 1000);
    assert_int_equal(opts.connections, 50);
    assert_true(opts.connect_rate == 200);
    assert_int_equal(opts.duration_ns, 10000000000);
    assert_int_equal(opts.seed, 7);
    assert_true(opts.raw);
    assert_int_equal(opts.verbose, 1);
    assert_int_equal(opts.arrival, 0); /* Poisson */
}

static void interval_gives_a_rate_and_exact_periods(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 100 -i 250ms host"), OPTIONS_RUN);
    assert_true(client_opts_rate_qps(&opts) == 400);
    assert_int_equal(opts.arrival, 1);
    assert_int_equal(opts.select, 1);
    assert_int_equal(parse("-c 100 -i 250ms --arrival poisson --select random host"), OPTIONS_RUN);
    assert_int_equal(opts.arrival, 0);
    assert_int_equal(opts.select, 0);
}

static void drain_follows_the_timeout_unless_given(void **state)
{
    (void)state;
    assert_int_equal(parse("--timeout 250ms host"), OPTIONS_RUN);
    assert_int_equal(opts.drain_ns, 250000000);
    assert_int_equal(parse("--timeout 250ms --drain 0 host"), OPTIONS_RUN);
    assert_int_equal(opts.drain_ns, 0);
}

static void listener_drains_for_a_second_and_may_warm_up(void **state)
{
    (void)state;
    assert_int_equal(parse("--protocol listen --warmup 2s host"), OPTIONS_RUN);
    assert_int_equal(opts.protocol, CLIENT_PROTOCOL_LISTEN);
    assert_int_equal(opts.drain_ns, UNITS_NS_PER_S);
    assert_int_equal(parse("--protocol listen --drain 5s host"), OPTIONS_RUN);
    assert_int_equal(opts.drain_ns, 5 * UNITS_NS_PER_S);
}

static void with_churn_the_first_query_proves_and_failures_are_made_good(void **state)
{
    (void)state;
    assert_int_equal(parse("--reconnect host"), OPTIONS_RUN);
    assert_true(opts.reconnect && opts.prove == 0);
    assert_int_equal(opts.waits.most_ns, 10 * UNITS_NS_PER_S);
    assert_int_equal(parse("--queries-per-conn 3 host"), OPTIONS_RUN);
    assert_true(opts.reconnect && opts.prove == 1);
    assert_int_equal(parse("--queries-per-conn 3 --prove yes --backoff 1s-2s host"), OPTIONS_RUN);
    assert_true(opts.prove == 0 && opts.waits.first_ns == UNITS_NS_PER_S);
}

static void output_to_a_file_implies_rows(void **state)
{
    (void)state;
    assert_int_equal(parse("-o rows.csv --json - host"), OPTIONS_RUN);
    assert_true(opts.raw);
    assert_string_equal(opts.output, "rows.csv");
}

static void port_of_the_host_wins_over_the_default(void **state)
{
    (void)state;
    assert_int_equal(parse("host:53"), OPTIONS_RUN);
    assert_int_equal(opts.server.port, 53);
    assert_int_equal(parse("-p 53 [::1]:53"), OPTIONS_RUN);
    assert_int_equal(opts.server.port, 53);
    assert_string_equal(opts.server.host, "::1");
}

static void bad_combinations_are_refused_by_name(void **state)
{
    static const struct {
        const char *line, *named;
    } bad[] = {
        {"", "HOST"},
        {"a b", "'b'"},
        {"host:0", "host:0"},
        {"-p 54 host:53", "--port"},
        {"-r 1 -i 1s host", "--interval"},
        {"--loop closed host", "--loop"},
        {"--loop closed -r 5 host", "--loop"},
        {"-r 2G host", "--rate"},
        {"--qname a --protocol ping host", "--qname"},
        {"--size 5 host", "--size"},
        {"--warmup 1s host", "--warmup"},
        {"--tls-name a host", "--tls-name"},
        {"--tls-min 1.3 host", "--tls-min"},
        {"--tls --tls-min 1.1 host", "--tls-min"},
        {"--tls --protocol listen host", "--tls"},
        {"--tls --tls-insecure --tls-ca a host", "--tls-insecure"},
        {"-t 0 host", "--duration"},
        {"-c 2 --threads 3 host", "--threads"},
        {"-c 0 host", "--connections"},
        {"-n 1G host", "--connect-rate"},
        {"--backoff 1s-2s host", "--backoff"},
        {"--reconnect --backoff 2s host", "'2s'"},
        {"-R --json - host", "--json"},
        {"--timeout 10us host", "--timeout"},
        {"--start-at soon host", "'soon'"},
        {"--start-at 9e9 host", "--start-at"},
        {"--start-at 9000000000 --start-file f host", "--start-file"},
        {"--late-max 1s host", "--late-max"},
        {"--protocol listen -r 5 host", "--rate"},
        {"--protocol listen -i 5s host", "--interval"},
        {"--protocol listen --select random host", "--select"},
        {"--protocol listen --arrival constant host", "--arrival"},
        {"--protocol listen --queries-per-conn 5 host", "--queries-per-conn"},
        {"--protocol listen --on-timeout close host", "--on-timeout"},
        {"--protocol listen --conn-schedule 5s:5 host", "--conn-schedule"},
        {"--proxy-protocol v1 host", "--proxy-protocol: requires --proxy-source"},
        {"--proxy-source 10.0.0.1 host", "--proxy-source: requires --proxy-protocol"},
        {"--proxy-protocol v3 --proxy-source 10.0.0.1 host", "'v3'"},
        {"-r 5 --assert p98<5ms host", "--assert: invalid metric in 'p98<5ms'"},
        {"-r 5 --assert connect.p99<5ms host", "--assert: 'connect.' requires --connect-arrival"},
        {"-r 5 --protocol listen --assert lost=0 host", "--protocol listen"},
        {"--assert p99<5ms host", "--assert: requires --rate"},
        {"--assert lost=0 host", "--assert: requires --rate"},
        {"--assert service.p99<5ms host", "--assert: requires --rate"},
        {"--find rate --find-range 1-9 --assert lost=0 host", "--assert: conflicts with --find"},
        {"-c 10 -n 5 --connect-arrival poisson --assert connect.max<5ms --class "
         "name=a,share=50%,tls=yes "
         "--class name=b,share=50%,tls=no host",
         "--assert: 'connect.' conflicts with classes of which only some use TLS"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        if (strstr(error, bad[i].named) == NULL)
            fail_msg("'%s': '%s' is not named in: %s", bad[i].line, bad[i].named, error);
        assert_null(strchr(error, '\n'));
    }
}

static void goals_that_can_be_judged_are_accepted(void **state)
{
    static const char *const lines[] = {
        "-r 5 --assert p99<5ms,lost=0 host",
        "-i 1s --assert service.max<5ms host",
        "--schedule 5s:9 --assert p50<5ms host",
        "--control unix:x --assert lost<1% host", /* the rate may come later */
        "-n 5 --connect-arrival poisson --assert connect.p99<5ms host",
        "-n 5 --connect-arrival poisson --tls --assert connect.p99<5ms host",
        ("-c 10 -n 5 --connect-arrival poisson --assert connect.p99<5ms --class "
         "name=a,share=50%,tls=yes,rate=5 --class name=b,share=50%,tls=yes host"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(parse(lines[i]), OPTIONS_RUN);
        assert_true(opts.asserted.n > 0);
    }
    assert_int_equal(parse("-r 5 host"), OPTIONS_RUN);
    assert_int_equal(opts.asserted.n, 0);
}

static void parsing_again_starts_from_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 5 -i 1s -R host"), OPTIONS_RUN);
    assert_int_equal(parse("-r 3 host"), OPTIONS_RUN);
    assert_int_equal(opts.connections, 1);
    assert_false(opts.raw);
    assert_true(client_opts_rate_qps(&opts) == 3);
}

static void tls_verifies_unless_told_otherwise(void **state)
{
    (void)state;
    assert_int_equal(parse("host"), OPTIONS_RUN);
    assert_false(opts.tls);
    assert_int_equal(parse("--tls -p 853 host"), OPTIONS_RUN);
    assert_true(opts.tls);
    assert_false(opts.tls_insecure);
    assert_int_equal(opts.tls_min, TLS_MIN_1_2);
    assert_int_equal(opts.tls_resume, 0);
    assert_null(opts.tls_name);
    assert_int_equal(parse("--tls --tls-min 1.3 --tls-resume no --tls-name a --tls-ca b host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.tls_min, TLS_MIN_1_3);
    assert_int_equal(opts.tls_resume, 1);
    assert_string_equal(opts.tls_name, "a");
    assert_string_equal(opts.tls_ca, "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_documents),
        cmocka_unit_test(predecessors_command_line_is_understood),
        cmocka_unit_test(interval_gives_a_rate_and_exact_periods),
        cmocka_unit_test(drain_follows_the_timeout_unless_given),
        cmocka_unit_test(output_to_a_file_implies_rows),
        cmocka_unit_test(port_of_the_host_wins_over_the_default),
        cmocka_unit_test(listener_drains_for_a_second_and_may_warm_up),
        cmocka_unit_test(with_churn_the_first_query_proves_and_failures_are_made_good),
        cmocka_unit_test(tls_verifies_unless_told_otherwise),
        cmocka_unit_test(bad_combinations_are_refused_by_name),
        cmocka_unit_test(goals_that_can_be_judged_are_accepted),
        cmocka_unit_test(parsing_again_starts_from_the_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
