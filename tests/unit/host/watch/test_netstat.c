/* SPDX-License-Identifier: MIT
 * test_netstat: counters by group and name. */
#include "host/watch/netstat.h"

#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char text[] = "TcpExt: SyncookiesSent ListenOverflows ListenDrops Listen\n"
                           "TcpExt: 1 20 18446744073709551614 4\n"
                           "IpExt: InNoRoutes ListenDrops InOctets\n"
                           "IpExt: 5 6 -7\n";

static void a_counter_is_found_by_its_group_and_whole_name(void **state)
{
    (void)state;
    tree_put("netstat", text);
    assert_int_equal(netstat_read(tree_path("netstat"), "TcpExt:", "ListenOverflows"), 20);
    assert_int_equal(netstat_read(tree_path("netstat"), "TcpExt:", "Listen"), 4);
    assert_true(netstat_read(tree_path("netstat"), "TcpExt:", "ListenDrops") ==
                18446744073709551614ull);
    assert_int_equal(netstat_read(tree_path("netstat"), "IpExt:", "ListenDrops"), 6);
}

static void what_is_not_there_is_unknown(void **state)
{
    (void)state;
    tree_put("netstat", text);
    assert_true(netstat_read(tree_path("netstat"), "TcpExt:", "Listens") == NETSTAT_UNKNOWN);
    assert_true(netstat_read(tree_path("netstat"), "Tcp:", "ListenDrops") == NETSTAT_UNKNOWN);
    assert_true(netstat_read(tree_path("none"), "TcpExt:", "ListenDrops") == NETSTAT_UNKNOWN);
}

static void lines_that_do_not_match_are_unknown(void **state)
{
    (void)state;
    tree_put("short", "TcpExt: A B C\nTcpExt: 1 2\n");
    assert_int_equal(netstat_read(tree_path("short"), "TcpExt:", "B"), 2);
    assert_true(netstat_read(tree_path("short"), "TcpExt:", "C") == NETSTAT_UNKNOWN);
    tree_put("odd", "TcpExt: A B C\n");
    assert_true(netstat_read(tree_path("odd"), "TcpExt:", "A") == NETSTAT_UNKNOWN);
    tree_put("empty", "");
    assert_true(netstat_read(tree_path("empty"), "TcpExt:", "A") == NETSTAT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_found_by_its_group_and_whole_name),
        cmocka_unit_test(what_is_not_there_is_unknown),
        cmocka_unit_test(lines_that_do_not_match_are_unknown),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_tree);
}
