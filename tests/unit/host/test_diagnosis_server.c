/* SPDX-License-Identifier: MIT
 * test_diagnosis_server: servers that refuse or end connections. */
#include "diagnosis_steps.h"

/* 200 within 3 ms, each idle for the interval between its queries. */
static void killed_server_is_no_limit(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++)
        losses_add(&losses, 7000 * MS + i * MS * 3 / 200, i * MS);
    in.none_is_left = in.server_was_tried = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server went away", 200, "all ended within 2.9", "dmesg");
    in.server_accepts = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200, "idle for at most 199 ms, median 99.0 ms",
               "or a restart");
    in.none_is_left = in.server_was_tried = in.server_accepts = false;
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200, "200 that had answered", "queries per connection");
    in.server_was_tried =
        true; /* others are left: the server has not ended, even if it accepts none now */
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200, "200 that had answered", "queries per connection");
}

/* As of dnsmasq, which then closes at once. */
static void limit_on_queries_per_connection_is_named_with_the_number(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        losses_add(&losses, 7000 * MS + i * 100 * MS, 0);
        losses_add_answers(&losses, 100);
    }
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200,
               "accepted, then closed: 200 that had answered, after 100 queries each",
               "a limit on queries per connection: see the server's log, or use --reconnect");
    in.reconnects = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 210);
    assert_one("the server's limits", 210,
               "10 before an answer, 200 that had answered, after 100 queries each",
               "a limit on queries per connection, or a load balancer with a backend that is down: "
               "see the server's log");
    assert_null(strstr(d.lines[0].remedy, "--reconnect"));
}

/* A server that is full may close those that have proved themselves, for others. */
static void one_query_each_is_any_limit(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        losses_add(&losses, 7000 * MS + i * 100 * MS, 0);
        losses_add_answers(&losses, 1);
    }
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200, "200 that had answered, after 1 query each",
               "a limit on connections, fds or queries per connection: see the server's log");
}

static void one_connection_has_no_time_within_which_all_ended(void **state)
{
    (void)state;
    losses_add(&losses, 7000 * MS, 20 * MS);
    in.none_is_left = in.server_was_tried = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 1);
    assert_one("the server went away", 1, "the server accepts no connections now", "dmesg");
    assert_null(strstr(d.lines[0].evidence, "all ended"));
}

/* The connects of --reconnect; the server is not tried after the run. */
static void server_that_refuses_after_it_was_killed_is_no_limit_of_an_interrupted_run(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        losses_add(&losses, 7000 * MS, 996 * MS);
    in.none_is_left = in.reconnects = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 10);
    assert_one("the server's idle timeout", 10, "idle for at least 996 ms", "raise");
    tally_add(&tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 40);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 2);
    assert_string_equal(d.lines[0].limit, "nobody listens");
    assert_string_equal(d.lines[1].limit, "the server went away");
    assert_string_equal(d.lines[1].evidence,
                        "all ended within 0 ns, and the server refuses connections");
    in.on_demand = true; /* it may have accepted others since, which were closed when idle */
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[1].limit, "the server's idle timeout");
    in.server_was_tried = true;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[1].limit, "the server went away");
}

static void idle_timeout_is_named_with_the_time(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        losses_add(&losses, 7000 * MS, 2000 * MS + i * MS);
    in.none_is_left = in.server_was_tried = in.server_accepts = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 100);
    assert_one("the server's idle timeout", 100, "idle for at least 2.00 s, median 2.05 s",
               "raise the server's timeout, send more queries per connection, or use --reconnect");
    losses_add(&losses, 8000 * MS, 0); /* a query was sent just then */
    diagnose(PHASE_RECEIVE, REASON_PEER, 101);
    assert_one("the server's idle timeout", 101,
               "101 that had answered, 95 % idle for at least 2.00 s, median 2.05 s", "raise");
    in.reconnects = true;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[0].remedy,
                        "raise the server's timeout, or send more queries per connection");
    in.listens = true;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[0].remedy, "raise the server's timeout");
    in.reconnects = false;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[0].remedy, "raise the server's timeout, or use --reconnect");
    in.listens = false;
    in.on_demand = true;
    diagnosis_make(&d, &in);
    assert_non_null(strstr(d.lines[0].remedy, "--idle-close"));
    assert_null(strstr(d.lines[0].remedy, "--reconnect"));
}

static void connections_that_a_limit_turned_away_were_not_idle(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        losses_add(&losses, 7000 * MS, 1000 * MS);
    diagnose(PHASE_RECEIVE, REASON_RESET, 45);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 5);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 2);
    assert_string_equal(d.lines[0].limit, "the server's limits");
    assert_int_equal(d.lines[0].connections, 45);
    assert_string_equal(d.lines[0].evidence, "accepted, then closed before an answer");
    assert_string_equal(d.lines[1].limit, "the server's idle timeout");
    assert_int_equal(d.lines[1].connections, 5);
    /* a server may reset what is idle; what was asked nothing, it closes in the same way */
    diagnose(PHASE_RECEIVE, REASON_RESET, 5);
    assert_one("the server's idle timeout", 5, "5 that had answered", "--reconnect");
    diagnose(PHASE_RECEIVE, REASON_PEER, 50);
    assert_one("the server's idle timeout", 50, "5 that had answered", "--reconnect");
}

static void those_before_an_answer_are_told_from_the_others(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 107; i++)
        losses_add(&losses, 7000 * MS + i * 100 * MS, i * MS);
    diagnose(PHASE_RECEIVE, REASON_RESET, 807);
    assert_one(
        "the server's limits", 807,
        "closed: 700 before an answer, 107 that had answered, idle for at most 106 ms, median",
        "a backend that is down");
    diagnose(PHASE_RECEIVE, REASON_RESET, 107);
    diagnosis_make(&d, &in);
    assert_null(strstr(d.lines[0].remedy, "backend"));
}

static void server_that_refuses_and_server_that_ends_differ(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_REFUSED, 2);
    assert_one("nobody listens", 2,
               "2 of 102 connections refused: nothing listens on 192.0.2.1:4242", "-p");
    diagnose(PHASE_RECEIVE, REASON_PEER, 2);
    assert_one("the server's limits", 2, "before an answer",
               "a limit on connections, fds or queries per connection, or a load balancer with a "
               "backend that is down: see the server's log");
}

static void server_that_refuses_some_listens(void **state)
{
    (void)state;
    in.target_serves = true;
    diagnose(PHASE_CONNECT, REASON_REFUSED, 2);
    assert_one("connections refused", 2,
               "2 of 102 connections refused, but others to 192.0.2.1:4242 are live",
               "did not listen for a time, or a firewall");
    tally_add(&tally.connections.ended[PHASE_CONNECT][REASON_SELF], 1);
    diagnosis_make(&d, &in);
    assert_one(
        "connections refused", 3,
        "2 connections refused, 1 connected to itself, but others to 192.0.2.1:4242 are live",
        "did not listen for a time, or a firewall");
}

static void over_udp_a_refusal_is_an_icmp_message(void **state)
{
    (void)state;
    in.over_udp = true;
    diagnose(PHASE_RECEIVE, REASON_REFUSED, 2);
    assert_one("nobody listens", 2,
               "2 of 102 sockets got 'port unreachable' (ICMP): nothing listens on 192.0.2.1:4242",
               "-p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_server_is_no_limit),
        TEST(limit_on_queries_per_connection_is_named_with_the_number),
        TEST(one_query_each_is_any_limit),
        TEST(one_connection_has_no_time_within_which_all_ended),
        TEST(server_that_refuses_after_it_was_killed_is_no_limit_of_an_interrupted_run),
        TEST(idle_timeout_is_named_with_the_time),
        TEST(connections_that_a_limit_turned_away_were_not_idle),
        TEST(those_before_an_answer_are_told_from_the_others),
        TEST(server_that_refuses_and_server_that_ends_differ),
        TEST(server_that_refuses_some_listens),
        TEST(over_udp_a_refusal_is_an_icmp_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
