/* SPDX-License-Identifier: MIT
 * test_client_opts_transport: what --transport udp changes, and what it refuses. */
#include "client/opts_class.h"
#include "client/worker/config.h"
#include "opts_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void queries_go_over_tcp_by_default(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 host"), OPTIONS_RUN);
    assert_int_equal(opts.transport, CLIENT_TCP);
    assert_int_equal(opts.prove, CLIENT_YES);
    assert_int_equal(parse("-r 5 --transport tcp --tls --close rst host"), OPTIONS_RUN);
}

static void udp_sockets_are_not_proven_unless_requested(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 --transport udp host"), OPTIONS_RUN);
    assert_int_equal(opts.transport, CLIENT_UDP);
    assert_int_equal(opts.prove, CLIENT_NO);
    assert_int_equal(parse("-r 5 --transport udp --prove yes host"), OPTIONS_RUN);
    assert_int_equal(opts.prove, CLIENT_YES);
}

static void classes_are_not_proven_unless_requested(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 -c 10 --transport udp --class name=a,share=50% "
                           "--class name=b,share=50%,prove=yes host"),
                     OPTIONS_RUN);
    assert_int_equal(opts.classes[0].opts.prove, CLIENT_NO);
    assert_int_equal(opts.classes[1].opts.prove, CLIENT_YES);
}

static void what_has_a_meaning_over_udp_is_accepted(void **state)
{
    static const char *const good[] = {
        "-r 5 --transport udp --kernel-ts=yes --rcvbuf 1M --sndbuf 1M host",
        "-r 5 --transport udp --queries-per-conn 1 host",
        "-r 5 --transport udp --reconnect --on-timeout close host",
        "-r 5 --transport udp --conn-schedule 1s:5 host",
        "-r 5 --transport udp --source 127.0.0.1 --sport 2000-3000 --edns 1232 --dnssec host",
        "--transport udp --find rate --find-range 1-2 --sweep connections=1,10 host",
        "-i 1 --transport udp --loop closed --timeout 1s --connect-timeout 1s host",
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (parse(good[i]) != OPTIONS_RUN)
            fail_msg("%s: %s", good[i], error);
}

static void what_needs_tcp_is_refused_by_name(void **state)
{
    static const struct {
        const char *line, *name;
    } bad[] = {
        {"-r 5 --transport udp --protocol ping host", "requires --protocol dns"},
        {"-r 5 --transport udp --protocol echo host", "requires --protocol dns"},
        {"--transport udp --protocol listen host", "requires --protocol dns"},
        {"-r 5 --transport udp --tls host", "conflicts with --tls"},
        {"-r 5 --transport udp --class name=a,share=100%,tls=yes host", "conflicts with --tls"},
        {"-r 5 --transport udp --tls --class name=a,share=100%,tls=no host",
         "conflicts with --tls"},
        {"-r 5 --transport udp --on-demand --class name=a,share=100%,idle-close=2s host",
         "conflicts with --on-demand"},
        {"-r 5 --transport udp --proxy-protocol v2 --proxy-source 10.0.0.1 host",
         "conflicts with --proxy-protocol"},
        {"-r 5 --transport udp --on-demand host", "conflicts with --on-demand"},
        {"-r 5 --transport udp --on-demand --keepalive host", "conflicts with --on-demand"},
        {"-r 5 --transport udp -n 5 --connect-arrival poisson host",
         "conflicts with --connect-arrival"},
        {"-r 5 --transport udp --find connections --find-range 1-2 host",
         "conflicts with --find connections"},
        {"--transport udp --find connect-rate --find-range 1-2 host",
         "conflicts with --find connect-rate"},
        {"-r 5 --transport udp --close rst host", "conflicts with --close"},
        {"-r 5 --transport udp --close fin host", "conflicts with --close"},
        {"-r 5 --transport udp --quickack host", "conflicts with --quickack"},
        {"-r 5 --transport udp --server-control 127.0.0.1:9 host",
         "conflicts with --server-control"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        if (strstr(error, "--transport: 'udp' ") != error || strstr(error, bad[i].name) == NULL)
            fail_msg("%s: no '%s' in: %s", bad[i].line, bad[i].name, error);
        assert_null(strchr(error, '\n'));
    }
    assert_int_equal(parse("-r 5 --transport sctp host"), OPTIONS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_go_over_tcp_by_default),
        cmocka_unit_test(udp_sockets_are_not_proven_unless_requested),
        cmocka_unit_test(classes_are_not_proven_unless_requested),
        cmocka_unit_test(what_has_a_meaning_over_udp_is_accepted),
        cmocka_unit_test(what_needs_tcp_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
