/* SPDX-License-Identifier: MIT
 * test_client_opts: the command line of tcpclient: defaults and rejected options. */
#include "base/units.h"
#include "net/tls_context.h"
#include "opts_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    assert_true(opts.connect_rate_per_s == 200);
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

static void listener_ignores_queries_that_are_turned_off(void **state)
{
    (void)state;
    assert_int_equal(parse("--protocol listen -r 0 --queries-per-conn 0 --stdin=no host"),
                     OPTIONS_RUN);
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
    assert_true(opts.reconnect && opts.prove == CLIENT_YES);
    assert_int_equal(opts.waits.most_ns, 10 * UNITS_NS_PER_S);
    assert_int_equal(parse("--queries-per-conn 3 host"), OPTIONS_RUN);
    assert_true(opts.reconnect && opts.prove == CLIENT_NO);
    assert_int_equal(parse("--queries-per-conn 3 --prove yes --backoff 1s-2s host"), OPTIONS_RUN);
    assert_true(opts.prove == CLIENT_YES && opts.waits.first_ns == UNITS_NS_PER_S);
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
        {"a b", "'b' after 'a'"},
        {"--kernel-ts yes host", "'host' after 'yes'"}, /* an optional value needs the '=' */
        {"host:0", "host:0"},
        {"-p 54 host:53", "--port"},
        {"-r 1 -i 1s host", "--interval"},
        {"--loop closed host", "--loop"},
        {"--loop closed -r 5 host", "--loop"},
        {"-r 2G host", "--rate"},
        {"-s 20000000000G host", "from 0 to 18,446,744,073,709,551,615"},
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
        {"--slo lost=0 host", "--slo: requires --find: give the goals of a run as --assert"},
        {"-c 10 -n 5 --connect-arrival poisson --assert connect.max<5ms --class "
         "name=a,share=50%,tls=yes "
         "--class name=b,share=50%,tls=no host",
         "--assert: 'connect.' requires TLS in all classes or in none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        if (strstr(error, bad[i].named) == NULL)
            fail_msg("'%s': '%s' is not named in: %s", bad[i].line, bad[i].named, error);
        assert_null(strchr(error, '\n'));
    }
}

/* Who follows the first message is not refused by the next one. */
static void no_message_asks_for_an_option_that_is_refused(void **state)
{
    static const struct {
        const char *line, *begin;
    } bad[] = {
        {"--loop closed -r 5 host", "--loop: 'closed' conflicts with --rate: give --interval"},
        {"--loop closed --schedule 1s:5 host", "--loop: 'closed' conflicts with --schedule:"},
        {"--loop closed --stdin host", "--loop: 'closed' conflicts with --stdin:"},
        {"--loop closed --stdin-rateslope host",
         "--loop: 'closed' conflicts with --stdin-rateslope:"},
        {"-c 9 --loop closed --schedule 1s:5 --class name=a,share=100% host",
         "--loop: 'closed' conflicts with --schedule:"},
        {"--find rate --find-range 1-9 --loop closed host",
         "--find: conflicts with --loop closed:"},
        {"--find rate --loop closed host", "--find: conflicts with --loop closed:"},
        {"--find rate --find-range 1-9 --stdin-rateslope host",
         "--find: conflicts with --stdin-rateslope:"},
        {"--find rate --on-demand host", "--on-demand: conflicts with --find:"},
        {"--find rate --class name=a,share=100% host", "--class: conflicts with --find:"},
        {"--find connections --transport udp host",
         "--transport: 'udp' conflicts with --find connections:"},
        {"--find connect-rate --transport udp host",
         "--transport: 'udp' conflicts with --find connect-rate:"},
        {"-r 5 --on-demand --loop closed host", "--on-demand: conflicts with --loop closed:"},
        {"-r 5 --on-demand --connect-arrival poisson host",
         "--on-demand: conflicts with --connect-arrival:"},
        {"-r 5 --on-demand --backoff 1s-2s host", "--backoff: conflicts with --on-demand:"},
        {"-r 5 --idle-close 1s --reconnect host",
         "--idle-close: requires --on-demand, which conflicts with --reconnect:"},
        {"-r 5 --keepalive --conn-schedule 1s:5 host",
         "--keepalive: requires --on-demand, which conflicts with --conn-schedule:"},
        {"-r 5 --keepalive --transport udp host", "--transport: 'udp' conflicts with --keepalive:"},
        {"-r 5 --idle-close 1s --transport udp host",
         "--transport: 'udp' conflicts with --idle-close:"},
        {"-r 5 --proxy-source 10.0.0.1 --transport udp host",
         "--transport: 'udp' conflicts with --proxy-source:"},
        {"-r 5 --tls-ca a --transport udp host", "--tls-ca: conflicts with --transport udp:"},
        {"--tls-ca a --protocol listen host", "--tls-ca: conflicts with --protocol listen:"},
        {"--slo lost=0 --protocol listen host", "--slo: --protocol listen sends no queries:"},
        {"-r 5 --connect-arrival poisson --transport udp host",
         "--transport: 'udp' conflicts with --connect-arrival:"},
        {"-r 5 --connect-arrival poisson --conn-schedule 1s:5 host",
         "--connect-arrival: conflicts with --conn-schedule:"},
        {"-r 5 --max-connections 9 --conn-schedule 1s:5 host",
         "--max-connections: conflicts with --conn-schedule:"},
        {"-r 5 --on-demand --assert connect.p99<5ms host",
         "--assert: 'connect.' requires --connect-arrival, which conflicts with --on-demand:"},
        {"-r 5 --transport udp --assert connect.p99<5ms host",
         "--assert: 'connect.' requires --connect-arrival, which conflicts with --transport udp:"},
        {"-r 5 --conn-schedule 1s:5 --assert connect.p99<5ms host",
         "--assert: 'connect.' requires --connect-arrival, which conflicts with --conn-schedule:"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i].line) != OPTIONS_USAGE)
            fail_msg("accepted: %s", bad[i].line);
        if (strncmp(error, bad[i].begin, strlen(bad[i].begin)) != 0)
            fail_msg("%s: no '%s' in: %s", bad[i].line, bad[i].begin, error);
    }
}

/* "edns=512": the option of a row with a value that it accepts. */
static const char *setting_of(const struct option_row *row, char text[64])
{
    const char *value = row->kind == OPTION_FLAG ? "yes" : row->choices;

    if (value != NULL)
        snprintf(text, 64, "%s=%.*s", row->name, (int)strcspn(value, "|"), value);
    else if (row->kind == OPTION_TEXT)
        snprintf(text, 64, "%s=a", row->name);
    else
        snprintf(text, 64, "%s=%llu", row->name, (unsigned long long)row->min);
    return text;
}

/* `form` has the place of the setting after the protocol. */
static void assert_requires(const char *form, const struct option_row *row, const char *protocol)
{
    char line[WORDS_BYTES], setting[64], refusal[80];

    snprintf(line, sizeof line, form, protocol, setting_of(row, setting));
    if (parse(line) != OPTIONS_RUN)
        fail_msg("%s: %s", line, error);
    snprintf(line, sizeof line, form, "ping", setting);
    if (parse(line) != OPTIONS_USAGE)
        fail_msg("accepted: %s", line);
    snprintf(refusal, sizeof refusal, " requires --protocol %s", protocol);
    if (strstr(error, refusal) == NULL)
        fail_msg("%s: no '%s' in: %s", line, refusal, error);
}

/* Such as "dns: name to query". */
static void options_require_the_protocol_that_their_help_begins_with(void **state)
{
    static const char *const protocols[] = {"dns", "echo"};
    static const char of_run[] = "--protocol %s --%s host",
                      of_class[] = "--protocol %s --class name=a,share=100%%,%s host";
    const struct options *table = client_opts_table();
    unsigned n = 0, n_of_class = 0;

    (void)state;
    for (size_t i = 0; i < 2 * table->n_rows; i++) {
        const struct option_row *row = &table->rows[i / 2];
        const char *protocol = protocols[i % 2];
        const size_t n_bytes = strlen(protocol);
        char line[WORDS_BYTES], setting[64];

        if (!options_is_setting(row) || strncmp(row->help, protocol, n_bytes) != 0 ||
            row->help[n_bytes] != ':')
            continue;
        assert_requires(of_run, row, protocol);
        n++;
        snprintf(line, sizeof line, of_class, protocol, setting_of(row, setting));
        if (parse(line) != OPTIONS_RUN && strstr(error, "unknown option") != NULL)
            continue; /* not an option of a class */
        assert_requires(of_class, row, protocol);
        n_of_class++;
    }
    assert_in_range(n, 7, table->n_rows);
    assert_in_range(n_of_class, 7, n);
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
    assert_int_equal(opts.tls_resume, CLIENT_YES);
    assert_null(opts.tls_name);
    assert_int_equal(parse("--tls --tls-min 1.3 --tls-resume no --tls-name a --tls-ca b host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.tls_min, TLS_MIN_1_3);
    assert_int_equal(opts.tls_resume, CLIENT_NO);
    assert_string_equal(opts.tls_name, "a");
    assert_string_equal(opts.tls_ca, "b");
}

/* A schedule sets the load as well: with a duration alone nothing would be sent. */
static void a_duration_cancels_no_schedule_of_a_file(void **state)
{
    static const struct {
        const char *file, *line, *refused; /* NULL: accepted */
    } cases[] = {
        {"schedule = 1s:5", "-t 1", "--schedule: conflicts with --duration:"},
        {"stdin", "-t 1", "--stdin: conflicts with --duration:"},
        {"rate = 5\nstdin-rateslope", "-t 1", "--stdin-rateslope: conflicts with --duration:"},
        {"rate = 5\nconn-schedule = 1s:5", "-t 1", "--conn-schedule: conflicts with --duration:"},
        {"schedule = 1s:5", "-t 1 -r 5", NULL}, /* the rate replaces the schedule */
        {"rate = 5\nconn-schedule = 1s:5", "-t 1 -c 5", NULL},
        {"duration = 1", "--schedule 1s:5", NULL},
        {"duration = 1", "--stdin", NULL},
        {"duration = 1\nrate = 5", "--stdin-rateslope", NULL},
        {"duration = 1\nrate = 5", "--conn-schedule 1s:5", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/test_opts_XXXXXX", line[128];
        const int fd = mkstemp(path);
        enum options_result result;

        assert_true(fd >= 0);
        assert_true(dprintf(fd, "%s\n", cases[i].file) > 0);
        assert_int_equal(close(fd), 0);
        snprintf(line, sizeof line, "--config %s %s host", path, cases[i].line);
        result = parse(line);
        assert_int_equal(unlink(path), 0);
        if (result != (cases[i].refused != NULL ? OPTIONS_USAGE : OPTIONS_RUN) ||
            (cases[i].refused != NULL && strstr(error, cases[i].refused) == NULL))
            fail_msg("case %zu: %d, %s", i, result, error);
    }
}

static void long_values_leave_room_for_what_is_expected(void **state)
{
    static const char *const before[] = {
        "",
        "host ",
        "host --watch ",
        "host --start-at ",
        "host --find rate --find-range ",
        "host --find rate --find-range 1-2 --find-width ",
        "host --find rate --find-range 1-2 --sweep ",
        "host --find rate --find-range 1-2 --sweep connections=",
        "host --schedule 1s:5 --threads ",
    };
    char line[512];

    (void)state;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        snprintf(line, sizeof line, "%s%0400d", before[i], 0);
        assert_int_equal(parse(line), OPTIONS_USAGE);
        if (strstr(error, "expected ") == NULL)
            fail_msg("%s: %s", before[i], error);
    }
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
        cmocka_unit_test(listener_ignores_queries_that_are_turned_off),
        cmocka_unit_test(listener_drains_for_a_second_and_may_warm_up),
        cmocka_unit_test(with_churn_the_first_query_proves_and_failures_are_made_good),
        cmocka_unit_test(tls_verifies_unless_told_otherwise),
        cmocka_unit_test(bad_combinations_are_refused_by_name),
        cmocka_unit_test(no_message_asks_for_an_option_that_is_refused),
        cmocka_unit_test(options_require_the_protocol_that_their_help_begins_with),
        cmocka_unit_test(goals_that_can_be_judged_are_accepted),
        cmocka_unit_test(parsing_again_starts_from_the_defaults),
        cmocka_unit_test(a_duration_cancels_no_schedule_of_a_file),
        cmocka_unit_test(long_values_leave_room_for_what_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
