/* SPDX-License-Identifier: MIT
 * test_diagnosis_route: packets that this host does not send, or that the network returns. */
#include "diagnosis_steps.h"

static void a_source_address_that_is_gone_is_named(void **state)
{
    (void)state;
    diagnose(PHASE_BIND, REASON_UNREACHABLE, 20);
    assert_one("source addresses", 20, "not local", "--source");
}

static void a_missing_route_is_named(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_ROUTE, 20);
    assert_one("no route", 20, "no route to 192.0.2.1:4242", "ip route get");
}

static void what_icmp_says_is_told_from_what_this_host_says(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_UNREACHABLE, 8);
    assert_one("unreachable", 8, "do not reach 192.0.2.1:4242", "firewalls");
    tally_add(&tally.connections.ended[PHASE_BIND][REASON_UNREACHABLE], 3);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 2);
    assert_int_equal(d.lines[0].connections, 8);
    assert_string_equal(d.lines[1].limit, "source addresses");
}

static void a_udp_socket_that_cannot_send_has_lost_its_route(void **state)
{
    (void)state;
    diagnose(PHASE_SEND, REASON_UNREACHABLE, 20);
    assert_one("unreachable", 20, "ICMP", "routes");
    in.over_udp = true;
    diagnose(PHASE_SEND, REASON_UNREACHABLE, 20);
    assert_one("no route", 20, "this host", "its link is up");
    diagnose(PHASE_RECEIVE, REASON_UNREACHABLE, 20);
    assert_one("unreachable", 20, "ICMP", "routes");
}

static void a_firewall_of_this_host_is_named(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_PERMISSION, 20);
    assert_one("not permitted", 20, "this host", "firewall");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_source_address_that_is_gone_is_named),
        TEST(a_missing_route_is_named),
        TEST(what_icmp_says_is_told_from_what_this_host_says),
        TEST(a_udp_socket_that_cannot_send_has_lost_its_route),
        TEST(a_firewall_of_this_host_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
