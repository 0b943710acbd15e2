/* SPDX-License-Identifier: MIT
 * test_diagnosis_silence: servers that do not answer. */
#include "diagnosis_steps.h"

/* 100 connections were established; none was answered. */
static void nobody_answers(enum outcome_phase phase, enum outcome_reason reason)
{
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.bytes_sent, 3000);
    tally_add(&tally.connections.ended[phase][reason], 100);
    diagnosis_make(&d, &in);
}

static void a_server_that_never_answers_is_told_apart_from_limits(void **state)
{
    (void)state;
    in.listen_overflows = 0;
    in.half_open = 100;
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "(dns): 100 silent",
               "usually the server speaks another --protocol");
    in.listen_overflows = 85;
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "100 silent", "it hangs or is stopped");
    in.half_open = 0;
    in.not_begun = 900;
    nobody_answers(PHASE_RECEIVE, REASON_PEER);
    assert_one("nobody answers", 100, "100 closed, 0 reset, 0 got unexpected bytes; 900 more",
               "--tls");
    nobody_answers(PHASE_RECEIVE, REASON_RESET);
    assert_one("nobody answers", 100, "100 reset", "proxy whose backend is down");
    nobody_answers(PHASE_PROTOCOL, REASON_MALFORMED);
    assert_one("nobody answers", 100, "100 got unexpected bytes", "another --protocol");
    in.over_tls = true;
    nobody_answers(PHASE_TLS, REASON_TIMEOUT);
    assert_one("nobody answers", 100, "(dns over TLS): 100 silent", "check that the port uses TLS");
    in.with_proxy_headers = true;
    nobody_answers(PHASE_TLS, REASON_TIMEOUT);
    assert_one("nobody answers", 100, "100 silent", "expects PROXY headers of this version");
}

/* An echo server answers a ping with the ping: its connections are silent, but it accepts them. */
static void a_server_that_sends_accepts_connections(void **state)
{
    (void)state;
    in.protocol = "ping";
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "100 silent", "it hangs or is stopped");
    tally_add(&tally.bytes_received, 120);
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 100, "100 silent", "usually the server speaks another --protocol");
}

/* The kernel acknowledges what a server that hangs does not read. */
static void packets_that_are_not_acknowledged_are_lost_on_the_way(void **state)
{
    (void)state;
    in.listen_overflows = 0;
    in.over_tls = true;
    for (unsigned n = 0; n < 2; n++) {
        nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
        tally_add(&tally.connections.unproven_unacknowledged, 50 + n);
        diagnosis_make(&d, &in);
        assert_one("nobody answers", 100,
                   n == 0 ? "100 silent (50 unacknowledged), 0" : "100 silent (51 unacknowledged)",
                   n == 0 ? "check that the port uses TLS" : "packets are lost on the way: ");
    }
    tally_add(&tally.connections.unproven_unacknowledged, 100); /* others were closed */
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 100, "(100 unacknowledged)", "path MTU (ping -M do -s SIZE)");
    in.listen_overflows = 85; /* what is not in the accept queue is not acknowledged */
    in.over_tls = false;
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 100, "(100 unacknowledged)", "does not accept connections: it");
}

/* A listener sends nothing before the server has greeted it. */
static void server_that_does_not_push_is_not_taken_for_a_full_one(void **state)
{
    (void)state;
    in.listens = true;
    in.protocol = "listen";
    in.listen_overflows = 0;
    in.half_open = 100;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 100);
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 100, "(listen): 100 silent", "tcpserver --push");
    tally_add(&tally.connections.proven, 1);
    diagnosis_make(&d, &in);
    assert_one("the server's accept queue or connection limit", 100, "never answered",
               "limit of connections or open files");
    in.half_open = 0; /* without a proof they are live, and end well */
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_FINISHED], 70);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 30);
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 100, "(listen): 70 silent, 30 closed", "tcpserver --push");
}

/* The single remedy is that for the larger group. */
static void few_silent_ones_are_not_those_to_explain(void **state)
{
    (void)state;
    in.half_open = 10;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.bytes_sent, 3000);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 90);
    diagnosis_make(&d, &in); /* the 10 are open: their outcome is not known yet */
    assert_one("nobody answers", 100, "10 silent, 90 closed", "usually the port expects TLS");
}

/* Without a proof: 60 connections were closed after their queries had timed out, 30 were
 * unresponsive at the end, and 10 carried no query. */
static void silence_is_found_on_connections_that_end_well(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.with_timeouts, 90);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_FINISHED], 70);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_IDLE], 30);
    tally_add(&tally.bytes_sent, 3000);
    in.listen_overflows = 0;
    in.unresponsive = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 90, "(dns): 90 silent, 0 closed", "another --protocol");
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_TIMEOUT], 80); /* these had timeouts */
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 90, "(dns): 90 silent, 0 closed", "another --protocol");
}

static void one_answer_is_enough_for_the_limits(void **state)
{
    (void)state;
    in.half_open = 99;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.proven, 1);
    tally_add(&tally.bytes_sent, 3000);
    diagnosis_make(&d, &in);
    assert_one("the server's accept queue or connection limit", 99, "5 accept queue", "backlog");
}

static void connections_without_queries_are_not_called_silent(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 100);
    diagnosis_make(&d, &in);
    assert_one("the server's limits", 100, "closed before an answer", "a limit on connections");
}

/* Measured: 30 of 1,000 answered the proof and nothing after it. */
static void connections_gone_unresponsive_have_all_the_timeouts(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.queries[TALLY_WARMUP].timeout, 1000);
    tally_add(&tally.queries[TALLY_MEASURED].timeout, 490);
    tally_add(&tally.connections.with_timeouts, 30);
    tally_add(&tally.connections.proven, 1000);
    in.unresponsive = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30,
               "all 1,490 timeouts are on 30 connections; 30 did not answer the last queries, but "
               "acknowledged them",
               "a thread of the server hangs");
    assert_non_null(strstr(d.lines[0].remedy, "; --on-timeout close with --reconnect replaces"));
    in.reconnects = true;
    diagnosis_make(&d, &in);
    assert_non_null(strstr(d.lines[0].remedy, "; --on-timeout close replaces them"));
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "all 1,490", "the server hangs");
    assert_string_equal(d.lines[0].remedy, "the server hangs"); /* replacing them would not help */
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.queries[TALLY_WARMUP].timeout, 1);
    tally_add(&tally.connections.with_timeouts, 1);
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "1 timeout is on 1 connection;", "");
}

/* Without proofs; the others answer. */
static void unresponsive_connections_that_never_answered_were_not_accepted(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 60);
    tally_add(&tally.connections.proven, 20);
    tally_add(&tally.connections.unresponsive_unproven, 40);
    in.listen_overflows = 0;
    in.unresponsive = 40;
    in.live = 60;
    diagnosis_make(&d, &in);
    assert_one("the server's accept queue or connection limit", 40, "never answered", "backlog");
    in.unresponsive = 45;
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 2);
    assert_int_equal(d.lines[0].connections, 40);
    assert_string_equal(d.lines[1].limit, "unresponsive connections");
    assert_int_equal(d.lines[1].connections, 5);
    assert_non_null(strstr(d.lines[1].evidence, "; 5 did not answer the last queries"));
    in.live = 45; /* those that answered do not any more */
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 45, "; 45 did not answer", "the server hangs");
    in.live = 60; /* 15 have had fewer timeouts, but no answer since */
    in.answering = 0;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 45, "; 45 did not answer", "the server hangs");
    assert_null(strstr(d.lines[0].remedy, "replaces them"));
    in.answering = 15;
    in.over_udp = true;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 45, "; 45 did not answer", "server thread hangs");
    in.over_udp = false;
    in.unresponsive = 10; /* of those that ended unresponsive, others were closed before */
    diagnosis_make(&d, &in);
    assert_one("the server's accept queue or connection limit", 10, "never answered", "backlog");
}

/* With --on-timeout close. */
static void connections_that_are_given_up_are_named(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    in.half_open = in.unresponsive = 0;
    tally_add(&tally.connections.connected, 60);
    tally_add(&tally.connections.proven, 60);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_TIMEOUT], 20);
    diagnosis_make(&d, &in);
    assert_one("unanswered queries", 20, "had no answer in time", "slower than --timeout");
    assert_non_null(strstr(d.lines[0].remedy, "; --reconnect replaces them"));
    in.reconnects = in.none_is_left = true;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[0].remedy, "the server hangs, or the network path is broken");
    in.reconnects = false;
    in.on_demand = true;
    diagnosis_make(&d, &in);
    assert_string_equal(d.lines[0].remedy, "the server hangs, or the network path is broken");
    nobody_answers(PHASE_RECEIVE, REASON_TIMEOUT);
    assert_one("nobody answers", 100, "100 silent", "hangs");
}

static void
acknowledgements_of_unresponsive_connections_tell_the_network_from_the_server(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.unresponsive_unacknowledged, 14);
    in.unresponsive = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "; 14 of these did not acknowledge them",
               "a thread of the server hangs");
    tally_add(&tally.connections.unresponsive_unacknowledged, 1);
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "; 15 of these", "firewall");
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "; 15 of these", "the network path is broken");
    tally_add(&tally.connections.unresponsive_unacknowledged, 100); /* others, which ended before */
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "; 30 of these", "the network path is broken");
}

static void unresponsive_udp_sockets_acknowledge_nothing(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    in.over_udp = true;
    in.unresponsive = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "last queries", "firewall");
    assert_null(strstr(d.lines[0].evidence, "acknowledged"));
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("unresponsive connections", 30, "last queries",
               "the server hangs, or the network path is broken");
}

/* If none was ever answered, the server does not use TLS. */
static void handshakes_that_take_too_long_are_named(void **state)
{
    (void)state;
    in.over_tls = true;
    diagnose(PHASE_TLS, REASON_TIMEOUT, 55);
    assert_one("the server's TLS handshakes", 55,
               "longer than --connect-timeout; 5 accept queue overflows on this host",
               "lower --connect-window");
    assert_non_null(strstr(d.lines[0].remedy, "limit of connections or open files"));
    assert_non_null(strstr(d.lines[0].remedy, "or it hangs")); /* not cut off */
    in.listen_overflows = 0;
    diagnose(PHASE_TLS, REASON_TIMEOUT, 55);
    assert_null(strstr(d.lines[0].evidence, "overflow"));
    nobody_answers(PHASE_TLS, REASON_TIMEOUT);
    assert_one("nobody answers", 100, "100 silent", "uses TLS");
}

/* Half of the connections are to another port, which answers. */
static void a_silent_port_has_its_own_remedy(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 20);
    tally_add(&tally.connections.proven, 10);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_RESET], 5);
    in.silent = "192.0.2.1:4243";
    in.half_open = 5;
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 10, "no connection to 192.0.2.1:4243 ever got an answer (5 closed",
               "usually the server there speaks another --protocol, expects TLS (tls=yes), hangs");
    in.half_open = 4;
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 9, "(5 closed or reset)", "usually only one side uses TLS");
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 20);
    tally_add(&tally.connections.proven, 10);
    in.over_udp = true;
    in.half_open = 10;
    diagnosis_make(&d, &in);
    assert_one("nobody answers", 10, "ever got an answer; all others",
               "the server there hangs or answers from another of its addresses, or a firewall");
}

/* A server bound to no address of a host that has several, unless it uses IP_PKTINFO. */
static void over_udp_the_server_may_answer_from_another_address(void **state)
{
    (void)state;
    in.protocol = "dns";
    in.over_udp = true;
    in.half_open = 100;
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "over UDP", "answers from another of its addresses");
}

static void without_overflows_none_are_named(void **state)
{
    (void)state;
    in.half_open = 4;
    in.listen_overflows = 0;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_string_equal(d.lines[0].evidence, "established here, never answered");
    in.listen_overflows = HOST_LIMITS_UNKNOWN;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_string_equal(d.lines[0].evidence, "established here, never answered");
}

static void half_open_ones_point_to_the_accept_queue(void **state)
{
    (void)state;
    in.half_open = 4;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_one("the server's accept queue or connection limit", 4, "5 accept queue overflows",
               "backlog");
}

/* With --reconnect a half-open connection is closed and replaced: none is left at the end. */
static void half_open_ones_that_were_replaced_are_named(void **state)
{
    (void)state;
    in.reconnects = true;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 24);
    assert_one("the server's accept queue or connection limit", 24, "5 accept queue overflows",
               "limit of connections");
    in.over_udp = true;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 24);
    assert_one("lost datagrams", 24, "no answer", "--prove yes");
}

static void over_udp_there_is_no_queue(void **state)
{
    (void)state;
    in.over_udp = true;
    in.half_open = 4;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_one("lost datagrams", 4, "no answer", "--prove yes");
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "(dns over UDP): 100 silent", "a firewall drops");
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_REFUSED], 6);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 2);
    assert_string_equal(d.lines[0].limit, "nobody answers");
    assert_non_null(strstr(d.lines[0].remedy, "limit how many ICMP messages they send"));
    assert_string_equal(d.lines[1].limit, "nobody listens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_that_never_answers_is_told_apart_from_limits),
        TEST(a_server_that_sends_accepts_connections),
        TEST(packets_that_are_not_acknowledged_are_lost_on_the_way),
        TEST(server_that_does_not_push_is_not_taken_for_a_full_one),
        TEST(few_silent_ones_are_not_those_to_explain),
        TEST(silence_is_found_on_connections_that_end_well),
        TEST(one_answer_is_enough_for_the_limits),
        TEST(connections_without_queries_are_not_called_silent),
        TEST(connections_gone_unresponsive_have_all_the_timeouts),
        TEST(unresponsive_connections_that_never_answered_were_not_accepted),
        TEST(connections_that_are_given_up_are_named),
        TEST(acknowledgements_of_unresponsive_connections_tell_the_network_from_the_server),
        TEST(unresponsive_udp_sockets_acknowledge_nothing),
        TEST(handshakes_that_take_too_long_are_named),
        TEST(a_silent_port_has_its_own_remedy),
        TEST(over_udp_the_server_may_answer_from_another_address),
        TEST(without_overflows_none_are_named),
        TEST(half_open_ones_point_to_the_accept_queue),
        TEST(half_open_ones_that_were_replaced_are_named),
        TEST(over_udp_there_is_no_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
