/* SPDX-License-Identifier: MIT
 * test_client_opts_class: classes of clients on the command line, and what is refused. */
#include "base/units.h"
#include "client/opts_class.h"
#include "client/opts_classes.h"
#include "client/worker/config.h"
#include "opts_steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_close(double is, double expected)
{
    if (!(fabs(is - expected) <= 1e-9)) /* NaN, too */
        fail_msg("%g, not %g", is, expected);
}

static void without_classes_there_are_none(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 10 -r 5 host"), OPTIONS_RUN);
    assert_int_equal(opts.n_classes, 0);
    assert_close(client_opts_rate_qps(&opts), 5);
}

static void classes_share_the_connections(void **state)
{
    (void)state;
    assert_int_equal(
        parse("-c 1000 --class name=a,share=70%,interval=10s --class share=30%,name=b,rate=5 host"),
        OPTIONS_RUN);
    assert_int_equal(opts.n_classes, 2);
    assert_string_equal(opts.classes[0].name, "a");
    assert_int_equal(opts.classes[0].n_connections, 700);
    assert_int_equal(opts.classes[1].n_connections, 300);
    assert_int_equal(opts.classes[0].opts.interval_ns, 10 * UNITS_NS_PER_S);
    assert_close(client_opts_class_rate_qps(&opts, 0), 70);
    assert_close(client_opts_class_rate_qps(&opts, 1), 5);
    assert_close(client_opts_rate_qps(&opts), 75);
}

static void numbers_add_up_whatever_the_shares(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 10 -r 9 --class name=a,share=33.3% --class name=b,share=33.3% "
                           "--class name=c,share=33.3% host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[0].n_connections, 3);
    assert_int_equal(opts.classes[1].n_connections, 4);
    assert_int_equal(opts.classes[2].n_connections, 3);
    assert_close(client_opts_rate_qps(&opts), 9);
    assert_close(client_opts_class_rate_qps(&opts, 1), 3.6);
    /* a third each, although the shares add up to 99.9 % */
    assert_int_equal(parse("-c 1000 -r 9 --class name=a,share=33.3% --class name=b,share=33.3% "
                           "--class name=c,share=33.3% host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[0].n_connections, 333);
    assert_int_equal(opts.classes[1].n_connections, 334);
    assert_int_equal(opts.classes[2].n_connections, 333);
}

static void classes_inherit_what_they_do_not_set(void **state)
{
    (void)state;
    assert_int_equal(
        parse("-c 4 -i 2s --qname d.example --edns 1232 --class name=a,share=50% "
              "--class name=b,share=50%,rate=8,qname=b.example,edns=512,qtype=MX host"),
        OPTIONS_RUN);
    assert_string_equal(opts.classes[0].opts.qname, "d.example");
    assert_int_equal(opts.classes[0].opts.edns_bytes, 1232);
    assert_int_equal(opts.classes[0].opts.arrival, PACER_CONSTANT);
    assert_int_equal(opts.classes[0].opts.select, CLIENT_SELECT_ROUND_ROBIN);
    assert_close(client_opts_class_rate_qps(&opts, 0), 1);
    assert_string_equal(opts.classes[1].opts.qname, "b.example");
    assert_string_equal(opts.classes[1].opts.qtype, "MX");
    assert_int_equal(opts.classes[1].opts.edns_bytes, 512);
    assert_int_equal(opts.classes[1].opts.arrival, PACER_POISSON); /* it has a rate */
    assert_int_equal(opts.classes[1].opts.select, CLIENT_SELECT_RANDOM);
    assert_close(client_opts_class_rate_qps(&opts, 1), 8);
}

static void arrivals_are_as_given_for_all_or_for_a_class(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 4 --arrival constant --class name=a,share=50%,rate=5 --class "
                           "name=b,share=50%,interval=1s,arrival=poisson,select=random host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[0].opts.arrival, PACER_CONSTANT);
    assert_int_equal(opts.classes[1].opts.arrival, PACER_POISSON);
    assert_int_equal(opts.classes[1].opts.select, CLIENT_SELECT_RANDOM);
}

static void a_class_may_be_idle(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 4 --class name=a,share=50% --class name=b,share=50%,rate=5 host"),
                     OPTIONS_RUN);
    assert_close(client_opts_class_rate_qps(&opts, 0), 0);
    assert_close(client_opts_rate_qps(&opts), 5);
}

static void classes_may_connect_in_their_own_way(void **state)
{
    (void)state;
    assert_int_equal(
        parse("-c 4 -r 5 --queries-per-conn 3 --tls-min 1.3 --class name=a,share=50%,tls=yes "
              "--class name=b,share=50%,port=853,queries-per-conn=0 host"),
        OPTIONS_RUN);
    assert_true(client_opts_uses_tls(&opts));
    assert_true(opts.classes[0].opts.tls);
    assert_int_equal(opts.classes[0].opts.server.port, 0);
    assert_int_equal(opts.classes[0].opts.queries_per_conn, 3);
    assert_int_equal(opts.classes[0].opts.prove, CLIENT_NO); /* its first query proves it */
    assert_false(opts.classes[1].opts.tls);
    assert_int_equal(opts.classes[1].opts.server.port, 853);
    assert_int_equal(opts.classes[1].opts.queries_per_conn, 0);
    assert_int_equal(opts.classes[1].opts.prove, CLIENT_YES);
    assert_true(opts.reconnect);
    assert_int_equal(client_opts_queries_per_conn(&opts), 6); /* every sixth query of all */
    assert_int_equal(parse("-c 4 --schedule 1s:5 --queries-per-conn 3 --class name=a,share=50% "
                           "--class name=b,share=50%,queries-per-conn=0 host"),
                     OPTIONS_RUN);
    assert_int_equal(client_opts_queries_per_conn(&opts), 6); /* of a schedule, too */
    assert_int_equal(parse("-c 4 --class name=a,share=50%,rate=5 "
                           "--class name=b,share=50%,queries-per-conn=3 host"),
                     OPTIONS_RUN);
    assert_int_equal(client_opts_queries_per_conn(&opts), UINT32_MAX); /* b sends none */
    assert_int_equal(parse("-c 4 -r 5 --on-demand --idle-close 1s --class name=a,share=50% "
                           "--class name=b,share=50%,idle-close=9s host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[0].opts.idle_close_ns, UNITS_NS_PER_S);
    assert_int_equal(opts.classes[1].opts.idle_close_ns, 9 * UNITS_NS_PER_S);
    assert_int_equal(client_opts_queries_per_conn(&opts), 0);
}

static void classes_of_a_closed_loop_each_have_an_interval(void **state)
{
    (void)state;
    assert_int_equal(parse("-c 4 --loop closed --class name=a,share=50%,interval=1s "
                           "--class name=b,share=50%,interval=2s host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[1].opts.interval_ns, 2 * UNITS_NS_PER_S);
    assert_int_equal(parse("-c 4 -i 3s --loop closed --class name=a,share=50%,interval=1s "
                           "--class name=b,share=50% host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[1].opts.interval_ns, 3 * UNITS_NS_PER_S);
}

static void bad_classes_are_refused_with_one_line(void **state)
{
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"--class name=a host", "'a' has no share"},
        {"--class share=100% host", "--class: 'share=100%' has no name: expected name=NAME"},
        {"--class name=a,share=70% host", "add up to 70%: expected 100%"},
        {"--class name=a,share=70 host", "share: invalid value '70'"},
        {"--class name=a,share=0% host", "share: invalid value '0%'"},
        {"--class name=a,share=101% host", "share: invalid value '101%'"},
        {"--class name=A,share=100% host", "invalid name 'A'"},
        {"--class name=a:b,share=100% host", "invalid name 'a:b'"},
        {"--class name=abcdefghijklmnopq,share=100% host", "invalid name 'abcdefghijklmnopq'"},
        {"-c 4 --class name=a,share=50% --class name=a,share=50% host", "two classes"},
        {"-c 4 --class name=a,share=99% --class name=b,share=1% host",
         "1% of 4 connections rounds to none"},
        {"--class name=a,share=100%,interval=1s,rate=5 host", "a: interval conflicts with rate"},
        {"--class name=a,share=100%,interval=x host", "--class: a: interval: invalid value 'x'"},
        {"--class name=a,share=100%,intervall=1s host", "did you mean 'interval'"},
        {"--class name=a,share=100%,timeout=1s host", "--class: a: timeout: unknown option"},
        {"--class name=a,share host", "missing value PERCENT"},
        {"--schedule 1s:5 --class name=a,share=100%,rate=5 host",
         "rate conflicts with the schedule"},
        {"--class name=a,share=100%,size=5 host", "a: size requires --protocol echo"},
        {"--protocol echo --class name=a,share=100%,qname=x host",
         "a: qname requires --protocol dns"},
        {"--class name=a,share=100%,qname=x,query-file=f host", "query-file conflicts with qname"},
        {"--class name=a,share=100%,query-file=- host", "'-' is read once"},
        {"--class name=a,share=100%,idle-close=1s host", "a: idle-close requires --on-demand"},
        {"-r 5 --on-demand --class name=a,share=100%,queries-per-conn=2 host",
         "a: queries-per-conn conflicts with --on-demand"},
        {"-r 5 --on-demand --class name=a,share=100%,prove=yes host", "a: prove conflicts"},
        {"--tls-min 1.3 --class name=a,share=100% host", "--tls-min: requires --tls"},
        {"--tls --tls-min 1.3 --class name=a,share=100%,tls=no host",
         "--tls-min: requires --tls, which every class turns off"},
        {"-i 1s --loop closed --class name=a,share=100%,rate=5 host",
         "rate conflicts with --loop closed"},
        {"-c 4 --loop closed --class name=a,share=50%,interval=1s --class name=b,share=50% host",
         "b: --loop closed requires an interval"},
        {"-c 4 -r 9 --class name=a,share=50%,rate=5 --class name=b,share=50%,interval=1s host",
         "--rate: conflicts with --class: each class has its own load"},
        {"-c 4 -i 1s --loop closed --class name=a,share=100%,interval=2s host",
         "--interval: conflicts with --class: each class has its own load"},
        {"--find rate --find-range 1-2 --class name=a,share=100% host", "conflicts with --find"},
        {"--conn-schedule 1s:5 --class name=a,share=100% host", "conflicts with --conn-schedule"},
        {"--protocol listen --class name=a,share=100% host", "conflicts with --protocol listen"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i].line) != OPTIONS_USAGE)
            fail_msg("accepted: %s", bad[i].line);
        if (strstr(error, bad[i].part) == NULL)
            fail_msg("%s: no \"%s\" in: %s", bad[i].line, bad[i].part, error);
        assert_null(strchr(error, '\n'));
    }
}

static void a_section_without_a_name_is_refused_with_its_line(void **state)
{
    char path[] = "/tmp/test_opts_class_XXXXXX", line[128], expected[128];
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "connections = 4\n\n[class]\nshare = 100%%\n") > 0);
    assert_int_equal(close(fd), 0);
    snprintf(line, sizeof line, "--config %s host", path);
    snprintf(expected, sizeof expected, "%s:3: [class] has no name: expected [class NAME]", path);
    assert_int_equal(parse(line), OPTIONS_USAGE);
    assert_string_equal(error, expected);
    assert_int_equal(unlink(path), 0);
}

static void there_are_at_most_16_classes(void **state)
{
    char line[512] = "-c 100";
    size_t n = strlen(line);

    (void)state;
    for (int i = 0; i < 17; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, " --class=name=c%d,share=5%%", i);
    snprintf(line + n, sizeof line - n, " host");
    assert_int_equal(parse(line), OPTIONS_USAGE);
    assert_non_null(strstr(error, "--class: expected at most 16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_classes_there_are_none),
        cmocka_unit_test(classes_share_the_connections),
        cmocka_unit_test(numbers_add_up_whatever_the_shares),
        cmocka_unit_test(classes_inherit_what_they_do_not_set),
        cmocka_unit_test(arrivals_are_as_given_for_all_or_for_a_class),
        cmocka_unit_test(a_class_may_be_idle),
        cmocka_unit_test(classes_may_connect_in_their_own_way),
        cmocka_unit_test(classes_of_a_closed_loop_each_have_an_interval),
        cmocka_unit_test(bad_classes_are_refused_with_one_line),
        cmocka_unit_test(a_section_without_a_name_is_refused_with_its_line),
        cmocka_unit_test(there_are_at_most_16_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
