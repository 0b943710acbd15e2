/* SPDX-License-Identifier: MIT
 * test_servers: the addresses of --server-control, and what the servers counted together. */
#include "client/servers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct client_servers s;
static char error[CONTROL_SOCKET_ERROR_BYTES];

static void addresses_are_separated_by_commas(void **state)
{
    (void)state;
    assert_int_equal(client_servers_parse(&s, "127.0.0.1:9000", error), 0);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.addresses[0], "127.0.0.1:9000");
    assert_int_equal(client_servers_parse(&s, "unix:/a,[::1]:9000,unix:/b", error), 0);
    assert_int_equal(s.n, 3);
    assert_string_equal(s.addresses[0], "unix:/a");
    assert_string_equal(s.addresses[1], "[::1]:9000");
    assert_string_equal(s.addresses[2], "unix:/b");
}

static void assert_refused(const char *list, const char *why)
{
    assert_int_equal(client_servers_parse(&s, list, error), -1);
    if (strstr(error, why) == NULL)
        fail_msg("no '%s' in: %s", why, error);
}

static void bad_lists_are_refused(void **state)
{
    char list[CLIENT_SERVERS_MOST * 16 + 200] = "";

    (void)state;
    assert_refused(",", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,,unix:/b", "expected ADDRESS:PORT or unix:PATH");
    assert_refused("unix:/a,unix:/b,unix:/a", "expected different addresses");
    memset(list, 'x', CLIENT_SERVERS_ADDRESS_BYTES);
    assert_refused(list, "expected ADDRESS:PORT or unix:PATH");
    list[0] = '\0';
    for (int i = 0; i <= CLIENT_SERVERS_MOST; i++)
        snprintf(list + strlen(list), 16, "%sh:%d", i > 0 ? "," : "", i);
    assert_refused(list, "expected at most 16 addresses");
    *strrchr(list, ',') = '\0';
    assert_int_equal(client_servers_parse(&s, list, error), 0);
}

static void sum_is_unknown_if_a_server_did_not_answer(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    s.n = 2;
    s.before[0] = s.before[1] = (struct server_stats){.is_known = true, .listen_drops = 1};
    s.after[0] = (struct server_stats){.is_known = true, .accepted = 3, .listen_drops = 2};
    assert_false(client_servers_sum(&s).is_known);
    s.after[1] = (struct server_stats){.is_known = true, .accepted = 4, .listen_drops = 2};
    assert_true(client_servers_sum(&s).is_known);
    assert_int_equal(client_servers_sum(&s).accepted, 7);
    assert_true(client_servers_sum(&s).listen_drops == UINT64_MAX);
    s.n = 1;
    assert_int_equal(client_servers_sum(&s).listen_drops, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_separated_by_commas),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(sum_is_unknown_if_a_server_did_not_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
