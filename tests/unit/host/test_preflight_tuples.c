/* SPDX-License-Identifier: MIT
 * test_preflight_tuples: source addresses and ports, and those in TIME_WAIT. */
#include "host/preflight_tuples.h"
#include "preflight_steps.h"

static void tuples_in_time_wait_count_where_they_cannot_be_reused(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    const struct preflight_line *tuples;
    struct preflight p;

    (void)state;
    ask.n_tuples = 11000;
    ask.n_time_wait = 1000;
    ask.time_wait_ends_s = 43;
    for (host.tcp_timestamps = 0; host.tcp_timestamps <= 1; host.tcp_timestamps++) {
        preflight_client(&p, &host, &ask);
        assert_int_equal(preflight_worst(&p),
                         host.tcp_timestamps == 0 ? PREFLIGHT_WARN : PREFLIGHT_OK);
        assert_int_equal(find(&p, "source tuples in TIME_WAIT")->available, 1000);
        assert_non_null(strstr(find(&p, "source tuples in TIME_WAIT")->fix, "43 s"));
    }
    ask.n_time_wait = 1001;
    preflight_client(&p, &host, &ask);
    assert_int_equal(find(&p, "source tuples")->level, PREFLIGHT_OK);
    host.tcp_timestamps = 0;
    preflight_client(&p, &host, &ask);
    tuples = find(&p, "source tuples");
    assert_int_equal(tuples->level, PREFLIGHT_STOP);
    assert_int_equal(tuples->available, 9999);
    assert_non_null(strstr(tuples->fix, "wait 43 s for TIME_WAIT to end, or add tuples"));
    assert_null(strstr(tuples->fix, "sysctl")); /* does not help those that wait now */
    ask.n_time_wait = 20000;
    preflight_client(&p, &host, &ask);
    assert_int_equal(find(&p, "source tuples")->available, 0);
    ask.n_time_wait = HOST_LIMITS_UNKNOWN;
    preflight_client(&p, &host, &ask);
    assert_int_equal(find(&p, "source tuples")->available, 11000);
}

static void tuples_of_other_sockets_are_not_available(void **state)
{
    struct preflight_client ask = ask_10000;
    const struct preflight_line *tuples;
    struct preflight p;

    (void)state;
    ask.n_tuples = 11000;
    ask.n_in_use = 1000;
    preflight_client(&p, &host_of_10000, &ask);
    tuples = find(&p, "source tuples");
    assert_int_equal(tuples->level, PREFLIGHT_OK);
    assert_int_equal(tuples->available, 10000);
    ask.n_in_use = 1001;
    ask.n_time_wait = 5;
    preflight_client(&p, &host_of_10000, &ask);
    tuples = find(&p, "source tuples");
    assert_int_equal(tuples->level, PREFLIGHT_STOP);
    assert_int_equal(tuples->available, 9999);
    assert_non_null(strstr(tuples->fix, "1001 are in use by other sockets: use --source with "));
}

static void time_wait_is_a_limit_where_its_ports_cannot_be_reused(void **state)
{
    static const struct {
        bool explicit_ports;
        uint64_t timestamps, per_s;
    } cases[] = {
        {true, 1, HOST_LIMITS_UNKNOWN},
        {false, 1, HOST_LIMITS_UNKNOWN},
        {true, 0, 1000},
        {false, 0, 1000},
        {false, HOST_LIMITS_UNKNOWN, 1000},
    };
    struct preflight p;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct preflight_client ask = ask_10000;
        struct host_limits host = host_of_10000;

        ask.n_tuples = 60000;
        ask.explicit_ports = cases[i].explicit_ports;
        host.tcp_timestamps = cases[i].timestamps;
        assert_true(preflight_tuples_churn_per_s(&host, &ask) == cases[i].per_s);
        ask.churn_per_s = 1000.4;
        preflight_client(&p, &host, &ask);
        assert_int_equal(find(&p, "connections/s sustainable with fin")->level, PREFLIGHT_OK);
        ask.churn_per_s = 1000.6;
        preflight_client(&p, &host, &ask);
        assert_int_equal(find(&p, "connections/s sustainable with fin")->level,
                         cases[i].per_s == 1000 ? PREFLIGHT_WARN : PREFLIGHT_OK);
        ask.closes_with_fin = false;
        preflight_client(&p, &host, &ask);
        assert_int_equal(find(&p, "connections/s sustainable with fin")->level, PREFLIGHT_OK);
    }
}

/* Tuples are used address by address. */
static void addresses_that_connections_use_have_to_be_of_this_host(void **state)
{
    static const struct {
        uint64_t n_connections, n_local, needed;
        enum preflight_level level;
    } cases[] = {
        {5000, 2, 1, PREFLIGHT_OK},
        {10000, 2, 2, PREFLIGHT_OK},
        {5000, 1, 1, PREFLIGHT_OK},
        {5001, 1, 2, PREFLIGHT_STOP},
        {1, 0, 1, PREFLIGHT_STOP},
        {20000, 2, 2, PREFLIGHT_OK}, /* too few tuples, but of this host */
    };
    struct preflight_client ask = ask_10000;
    const struct preflight_line *line;
    struct preflight p;

    (void)state;
    ask.unusable_address = "192.0.2.7";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask.n_connections = cases[i].n_connections;
        ask.n_usable_addresses = cases[i].n_local;
        preflight_client(&p, &host_of_10000, &ask);
        line = find(&p, "source addresses of this host");
        assert_int_equal(line->available, cases[i].n_local);
        assert_int_equal(line->needed, cases[i].needed);
        assert_int_equal(line->level, cases[i].level);
        assert_int_equal(strstr(line->fix, "192.0.2.7 is not") != NULL,
                         cases[i].level == PREFLIGHT_STOP);
    }
    ask.n_usable_addresses = HOST_LIMITS_UNKNOWN;
    preflight_client(&p, &host_of_10000, &ask);
    assert_false(has_line(&p, "source addresses"));
}

static void an_address_of_loopback_does_not_reach_another_host(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_usable_addresses = 0;
    ask.unusable_address = "127.0.0.2";
    ask.unusable_is_loopback = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "source addresses of this host", PREFLIGHT_STOP,
                "127.0.0.2, of loopback, reaches only this host");
}

static void a_source_that_is_not_unicast_is_refused(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_usable_addresses = 0;
    ask.unusable_address = "224.0.0.1";
    ask.unusable_is_not_unicast = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "source addresses of this host", PREFLIGHT_STOP,
                "224.0.0.1, a wildcard, multicast or broadcast address");
}

static void an_address_that_is_not_local_by_its_routes_is_a_warning(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_usable_addresses = 0;
    ask.unusable_address = "2001:db8::7";
    ask.unusable_may_be_foreign = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "source addresses of this host", PREFLIGHT_WARN,
                "ip route add local 2001:db8::7 dev lo");
}

static void a_server_without_a_route_is_a_warning(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    preflight_client(&p, &host_of_10000, &ask);
    assert_false(has_line(&p, "route"));
    ask.lacks_route = true;
    ask.routeless_address = "192.0.2.7";
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "route to the server", PREFLIGHT_WARN,
                "connections from 192.0.2.7 fail (no route) until this host has one: check 'ip "
                "route get ADDRESS from 192.0.2.7'");
    ask.n_usable_addresses = HOST_LIMITS_UNKNOWN;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(
        &p, "route to the server", PREFLIGHT_WARN,
        "connections fail (no route) until this host has one: check 'ip route get ADDRESS'");
    ask.lacks_route = false;
    ask.route_is_denied = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "route to the server", PREFLIGHT_WARN, "(not permitted) while the route");
    ask.loopback_is_down = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "route to the server", PREFLIGHT_WARN, "ip link set lo up");
}

static void a_source_without_a_route_matters_if_it_is_used(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.lacks_route = true;
    ask.routeless_address = "192.0.2.7";
    ask.n_routed_addresses = 1; /* of two, each with 5,000 ports */
    ask.n_connections = 5001;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "route to the server", PREFLIGHT_WARN, "from 192.0.2.7");
    ask.n_connections = 5000;
    preflight_client(&p, &host_of_10000, &ask);
    assert_false(has_line(&p, "route"));
}

static void too_few_tuples_stop_with_the_addresses_that_would_do(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_tuples = 9999;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "source tuples", PREFLIGHT_STOP, "--source with 3 addresses");
    assert_int_equal(find(&p, "source tuples")->available, 9999);
    assert_int_equal(find(&p, "source tuples")->needed, 10000);
    ask.explicit_ports = false;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(strstr(find(&p, "source tuples")->fix, "with 1 address (127.0.0.2 needs "));
    ask.n_connections = 100000;
    ask.n_tuples = 28232;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(strstr(find(&p, "source tuples")->fix, "--source with 2 addresses"));
    assert_non_null(strstr(find(&p, "source tuples")->fix, "(127.0.0.2-127.0.0.3 need no setup)"));
    ask.n_connections = 16000000;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(
        strstr(find(&p, "source tuples")->fix, "249 addresses (127.0.0.2-127.0.0.250 "));
    ask.explicit_ports = true;
    ask.n_addresses = 1;
    ask.n_tuples = 100;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(
        strstr(find(&p, "source tuples")->fix, "160000 addresses (those of 127.0.0.0/8"));
    ask.peer_is_here = false;
    preflight_client(&p, &host_of_10000, &ask);
    assert_null(strstr(find(&p, "source tuples")->fix, "127.0.0.2"));
}

static void each_port_of_the_server_has_the_tuples_of_the_kernel(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_elsewhere = 1;
    ask.n_tuples = 9999;
    for (int udp = 0; udp < 2; udp++)
        for (int is_explicit = 0; is_explicit < 2; is_explicit++) {
            ask.udp = udp;
            ask.explicit_ports = is_explicit;
            preflight_client(&p, &host_of_10000, &ask);
            assert_int_equal(find(&p, "source tuples")->needed, udp || is_explicit ? 10000 : 9999);
        }
}

static void an_address_has_the_ports_that_need_no_privilege(void **state)
{
    static const struct {
        uint64_t first_port;
        const char *fix;
    } cases[] = {
        {1024, "with 2 addresses"},
        {32768, "with 4 addresses"},
        {80, "with 2 addresses"},
        {0, "with 2 addresses"},
        {HOST_LIMITS_UNKNOWN, "with 2 addresses"},
    };
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    ask.explicit_ports = false;
    ask.n_connections = 128000;
    ask.n_tuples = 28232;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host.first_unprivileged_port = cases[i].first_port;
        preflight_client(&p, &host, &ask);
        assert_non_null(strstr(find(&p, "source tuples")->fix, cases[i].fix));
    }
}

static void an_address_lacks_the_ports_that_are_reserved(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.explicit_ports = false;
    ask.n_connections = 64512;
    ask.n_tuples = 28232;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(strstr(find(&p, "source tuples")->fix, "with 1 address"));
    ask.n_excluded_ports = 1;
    preflight_client(&p, &host_of_10000, &ask);
    assert_non_null(strstr(find(&p, "source tuples")->fix, "with 2 addresses"));
}

static void loopback_of_ipv6_has_no_further_addresses(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_tuples = 9999;
    ask.ipv6 = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_only(&p, "source tuples", PREFLIGHT_STOP,
                "tcpscaler-setup-client --sources LIST --dev IFACE --apply adds them");
}

static void reset_at_the_end_needs_no_time_wait(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.time_wait_buckets = host.orphans_max = 1;
    ask.closes_with_fin = false;
    preflight_client(&p, &host, &ask);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
}

/* They close first, whatever --close says. */
static void listeners_leave_time_wait_but_no_orphans(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.time_wait_buckets = host.orphans_max = 9999;
    ask.listens = true;
    for (int i = 0; i < 2; i++) {
        ask.closes_with_fin = i == 0;
        preflight_client(&p, &host, &ask);
        assert_only(&p, "net.ipv4.tcp_max_tw_buckets", PREFLIGHT_WARN,
                    "sysctl -w net.ipv4.tcp_max_tw_buckets=10000");
    }
    host.tcp_timestamps = 0;
    ask.explicit_ports = false;
    ask.n_time_wait = 1;
    ask.time_wait_ends_s = 42;
    for (int i = 0; i < 2; i++) {
        ask.closes_with_fin = i == 0;
        preflight_client(&p, &host, &ask);
        assert_string_equal(find(&p, "source tuples in TIME_WAIT")->fix, "for 42 s more");
    }
}

static void only_a_run_that_leaves_time_wait_is_told_how_to_leave_none(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.tcp_timestamps = 0;
    ask.n_time_wait = 1;
    ask.time_wait_ends_s = 42;
    for (int i = 0; i < 2; i++) {
        ask.closes_with_fin = i == 0;
        preflight_client(&p, &host, &ask);
        assert_string_equal(find(&p, "source tuples in TIME_WAIT")->fix,
                            i == 0 ? "for 42 s more; --close rst leaves none" : "for 42 s more");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_run_that_leaves_time_wait_is_told_how_to_leave_none),
        cmocka_unit_test(tuples_in_time_wait_count_where_they_cannot_be_reused),
        cmocka_unit_test(tuples_of_other_sockets_are_not_available),
        cmocka_unit_test(time_wait_is_a_limit_where_its_ports_cannot_be_reused),
        cmocka_unit_test(addresses_that_connections_use_have_to_be_of_this_host),
        cmocka_unit_test(an_address_of_loopback_does_not_reach_another_host),
        cmocka_unit_test(a_source_that_is_not_unicast_is_refused),
        cmocka_unit_test(an_address_that_is_not_local_by_its_routes_is_a_warning),
        cmocka_unit_test(a_server_without_a_route_is_a_warning),
        cmocka_unit_test(a_source_without_a_route_matters_if_it_is_used),
        cmocka_unit_test(too_few_tuples_stop_with_the_addresses_that_would_do),
        cmocka_unit_test(each_port_of_the_server_has_the_tuples_of_the_kernel),
        cmocka_unit_test(an_address_has_the_ports_that_need_no_privilege),
        cmocka_unit_test(an_address_lacks_the_ports_that_are_reserved),
        cmocka_unit_test(loopback_of_ipv6_has_no_further_addresses),
        cmocka_unit_test(reset_at_the_end_needs_no_time_wait),
        cmocka_unit_test(listeners_leave_time_wait_but_no_orphans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
