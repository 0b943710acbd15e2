/* SPDX-License-Identifier: MIT
 * test_client_opts_demand: the options of connections on demand, and what they refuse. */
#include "base/units.h"
#include "opts_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void connections_are_not_opened_on_demand_by_default(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 --idle-close 0 host"), OPTIONS_RUN);
    assert_false(opts.on_demand);
    assert_int_equal(opts.prove, CLIENT_YES);
}

static void first_query_of_a_connection_on_demand_proves_it(void **state)
{
    (void)state;
    assert_int_equal(parse("-r 5 --on-demand --idle-close 250ms host"), OPTIONS_RUN);
    assert_true(opts.on_demand);
    assert_int_equal(opts.idle_close_ns, 250 * UNITS_NS_PER_MS);
    assert_int_equal(opts.prove, CLIENT_NO);
    assert_false(opts.reconnect);
    assert_int_equal(parse("-i 1s --on-demand --prove no --loop open host"), OPTIONS_RUN);
    assert_int_equal(parse("--schedule 1s:5 --on-demand --queries-per-conn 0 host"), OPTIONS_RUN);
}

static void other_ways_to_open_connections_are_refused_by_name(void **state)
{
    static const struct {
        const char *line, *name;
    } bad[] = {
        {"-r 5 --idle-close 1s host", "--idle-close: requires --on-demand"},
        {"--on-demand host", "requires --rate"},
        {"-r 5 --on-demand --reconnect host", "--reconnect"},
        {"-r 5 --on-demand --queries-per-conn 1 host", "--queries-per-conn"},
        {"-i 5 --on-demand --loop closed host", "--loop closed"},
        {"-r 5 --on-demand --prove yes host", "--prove yes"},
        {"-r 5 --on-demand --conn-schedule 1s:5 host", "--conn-schedule"},
        {"--on-demand --protocol listen host", "--protocol listen"},
        {"-r 5 --on-demand -n 5 --connect-arrival poisson host", "--connect-arrival"},
        {"--on-demand --find rate --find-range 1-2 host", "--find"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].line), OPTIONS_USAGE);
        if (strstr(error, bad[i].name) == NULL)
            fail_msg("%s: no '%s' in: %s", bad[i].line, bad[i].name, error);
        assert_null(strchr(error, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_are_not_opened_on_demand_by_default),
        cmocka_unit_test(first_query_of_a_connection_on_demand_proves_it),
        cmocka_unit_test(other_ways_to_open_connections_are_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
