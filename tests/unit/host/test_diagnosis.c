/* SPDX-License-Identifier: MIT
 * test_diagnosis: which outcome points to which limit. */
#include "host/diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

static const struct host_limits roomy = {
    .nofile = 20000,
    .file_max = 1000000,
    .files_open = 1000,
    .memory_available_bytes = 20ull << 30,
    .address_space_bytes = HOST_LIMITS_UNKNOWN,
    .tcp_pages_max = 1000,
    .tcp_pages_used = 10,
    .sockets_in_time_wait = 77,
    .conntrack_max = 1000,
    .conntrack_used = 10,
};

static struct tally tally;
static struct host_limits host;
static struct diagnosis d;
static struct diagnosis_input in;
static struct losses losses;

/* n connections with one outcome; 100 finished. */
static void diagnose(enum outcome_phase phase, enum outcome_reason reason, uint64_t n)
{
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.attempted, 100 + n);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_FINISHED], 100);
    tally_add(&tally.connections.ended[phase][reason], n);
    diagnosis_make(&d, &in);
}

static void assert_one(const char *limit, uint64_t n, const char *evidence, const char *remedy)
{
    assert_int_equal(d.n_lines, 1);
    assert_string_equal(d.lines[0].limit, limit);
    assert_int_equal(d.lines[0].connections, n);
    if (strstr(d.lines[0].evidence, evidence) == NULL || strstr(d.lines[0].remedy, remedy) == NULL)
        fail_msg("'%s', '%s'", d.lines[0].evidence, d.lines[0].remedy);
}

static int setup(void **state)
{
    (void)state;
    host = roomy;
    in = (struct diagnosis_input){.tally = &tally,
                                  .target = "192.0.2.1:4242",
                                  .protocol = "dns",
                                  .losses = &losses,
                                  .host = &host,
                                  .listen_overflows = 5,
                                  .n_tuples = 28232,
                                  .in_time_wait = 28000,
                                  .own_fd_tables = true};
    return losses_init(&losses);
}

static int teardown(void **state)
{
    (void)state;
    losses_free(&losses);
    return 0;
}

static void nothing_is_said_when_all_finished_or_were_cancelled(void **state)
{
    (void)state;
    diagnose(PHASE_RUN, REASON_FINISHED, 5);
    assert_int_equal(d.n_lines, 0);
    diagnose(PHASE_RUN, REASON_CANCELLED, 5);
    assert_int_equal(d.n_lines, 0);
}

static void ports_and_fds_are_named(void **state)
{
    (void)state;
    in.tuples_in_time_wait = 28000;
    diagnose(PHASE_BIND, REASON_PORTS, 28000);
    assert_one("source ports", 28000, "28,000 of 28,232 source tuples are in TIME_WAIT",
               "net.ipv4.tcp_timestamps=1");
    host.tcp_timestamps = 1;
    diagnose(PHASE_BIND, REASON_PORTS, 28000);
    assert_one("source ports", 28000, "28,000 of 28,232", "wait 60 s, add tuples");
    in.tuples_in_time_wait = 4;
    diagnose(PHASE_BIND, REASON_PORTS, 5);
    assert_one("source ports", 5, "source tuples: 28,232; sockets in TIME_WAIT on this host: 77",
               "--source");
    diagnose(PHASE_CONNECT, REASON_PORTS, 6);
    assert_one("source ports", 6, "28,232", "--source");
    in.churns = true;
    in.churn_per_s = 16.7;
    diagnose(PHASE_CONNECT, REASON_PORTS, 6);
    assert_one("source ports", 6, "28,000 of 28,232 in TIME_WAIT; 16.7 connections/s",
               "--close rst");
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "fds per table: 20,000; each thread has its own",
               "use --threads auto, which adds");
    in.threads_are_auto = true;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "20,000", "--threads auto cannot add more");
    in.own_fd_tables = false;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "all threads share one", "ulimit -Hn");
    host.files_open = 990000;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fs.file-max", 7, "990,000 of 1,000,000 files open", "fs.file-max=1000014");
}

static void stalled_connects_are_told_apart_by_what_the_kernel_counts(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("the path to the server", 9, "SYNs retransmitted", "firewall");
    in.listen_overflows = 9; /* at least one for each */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("the server's accept queue", 9, "9 accept queue overflows", "net.core.somaxconn");
    host.conntrack_used = 990;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("net.netfilter.nf_conntrack_max", 9, "990 of 1,000 connections tracked", "notrack");
    host.tcp_pages_used = 980; /* the stronger explanation */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("net.ipv4.tcp_mem", 9, "980 of 1,000 pages", "net.ipv4.tcp_mem");
}

static void tcp_memory_is_not_blamed_below_its_limit(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_MEMORY, 3);
    assert_one("memory", 3, "pages used by TCP: 10, at most 1,000", "tcp_mem is not reached");
}

/* Measured with "ulimit -v 60000" in a network namespace, where tcp_mem is unknown. */
static void address_space_that_is_used_up_is_named(void **state)
{
    (void)state;
    host.tcp_pages_max = HOST_LIMITS_UNKNOWN;
    host.tcp_pages_used = 180;
    host.address_space_bytes = 100 * 1024;
    diagnose(PHASE_RECEIVE, REASON_MEMORY, 11992);
    assert_one("ulimit -v", 11992,
               "100 KiB of address space left (RLIMIT_AS); the host had 20.0 GiB of memory",
               "ulimit -v");
    host.address_space_bytes = HOST_LIMITS_UNKNOWN;
    diagnose(PHASE_RECEIVE, REASON_MEMORY, 11992);
    assert_one("memory", 11992, "used by TCP: 180, at most unknown",
               "not visible in this namespace");
}

static void all_ends_at_once(void)
{
    memset(&tally, 0, sizeof tally);
    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++)
            tally_add(&tally.connections.ended[p][r], (uint64_t)(1 + r));
    in.half_open = 3;
    in.deaf = 2;
    diagnosis_make(&d, &in);
}

/* 100 connections were established; none was answered. */
static void nobody_answers(enum outcome_phase phase, enum outcome_reason reason)
{
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.bytes_sent, 3000);
    tally_add(&tally.connections.ended[phase][reason], 100);
    diagnosis_make(&d, &in);
}

static void nobody_who_answers_is_told_apart_from_limits(void **state)
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

static void who_was_asked_nothing_is_not_blamed_for_silence(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.connected, 100);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 100);
    diagnosis_make(&d, &in);
    assert_one("the server's limits", 100, "closed before an answer", "a limit on connections");
}

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
    assert_one("the server's limits", 200, "idle for at least 0 ns", "or a restart");
    in.none_is_left = in.server_was_tried = in.server_accepts = false;
    diagnose(PHASE_RECEIVE, REASON_PEER, 200);
    assert_one("the server's limits", 200, "200 that had answered", "queries per connection");
}

/* Measured: 30 of 1,000 answered the proof and nothing after it. */
static void connections_gone_deaf_have_all_the_timeouts(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.queries[TALLY_WARMUP].timeout, 1000);
    tally_add(&tally.queries[TALLY_MEASURED].timeout, 490);
    tally_add(&tally.connections.with_timeouts, 30);
    tally_add(&tally.connections.proven, 1000);
    in.deaf = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30,
               "all 1,490 timeouts are on 30 connections; 30 did not answer the last queries, but "
               "acknowledged them",
               "a thread of the server hangs");
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "all 1,490", "the server hangs");
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.queries[TALLY_WARMUP].timeout, 1);
    tally_add(&tally.connections.with_timeouts, 1);
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "1 timeout is on 1 connection;", "");
}

static void what_the_deaf_acknowledge_tells_the_network_from_the_server(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.deaf_unacknowledged, 14);
    in.deaf = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "; 14 of these did not acknowledge them",
               "a thread of the server hangs");
    tally_add(&tally.connections.deaf_unacknowledged, 1);
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "; 15 of these", "firewall");
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "; 15 of these", "the network path is broken");
    tally_add(&tally.connections.deaf_unacknowledged, 100); /* others, which ended before */
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "; 30 of these", "the network path is broken");
}

static void the_deaf_over_udp_acknowledge_nothing(void **state)
{
    (void)state;
    memset(&tally, 0, sizeof tally);
    in.over_udp = true;
    in.deaf = 30;
    in.live = 1000;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "last queries", "firewall");
    assert_null(strstr(d.lines[0].evidence, "acknowledged"));
    in.live = 30;
    diagnosis_make(&d, &in);
    assert_one("connections gone deaf", 30, "last queries",
               "the server hangs, or the network path is broken");
}

static void idle_timeout_is_named_with_the_time(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        losses_add(&losses, 7000 * MS, 2000 * MS + i * MS);
    in.none_is_left = in.server_was_tried = in.server_accepts = true;
    diagnose(PHASE_RECEIVE, REASON_PEER, 100);
    assert_one("the server's idle timeout", 100, "idle for at least 2.00 s, median 2.05 s",
               "--reconnect");
}

static void there_is_room_for_a_line_of_each(void **state)
{
    (void)state;
    all_ends_at_once();
    assert_in_range(d.n_lines, 8, DIAGNOSIS_LINES);
    for (unsigned i = 1; i < d.n_lines; i++)
        assert_true(d.lines[i].connections <= d.lines[i - 1].connections);
}

static void what_nobody_knows_is_never_a_number(void **state)
{
    (void)state;
    memset(&host, 0xff, sizeof host);
    in.listen_overflows = in.n_tuples = in.in_time_wait = HOST_LIMITS_UNKNOWN;
    for (int churns = 0; churns < 2; churns++) {
        in.churns = churns == 1;
        all_ends_at_once();
        for (unsigned i = 0; i < d.n_lines; i++)
            if (strstr(d.lines[i].evidence, "184467") != NULL ||
                strstr(d.lines[i].evidence, "18,446") != NULL ||
                strstr(d.lines[i].evidence, "16.0 EiB") != NULL)
                fail_msg("'%s'", d.lines[i].evidence);
    }
}

static void half_open_ones_point_to_the_accept_queue(void **state)
{
    (void)state;
    in.half_open = 4;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_one("the server's accept queue or connection limit", 4, "5 accept queue overflows",
               "backlog");
}

static void over_udp_there_is_no_queue_and_no_handshake(void **state)
{
    (void)state;
    in.over_udp = true;
    diagnose(PHASE_RECEIVE, REASON_REFUSED, 2);
    assert_one("nobody listens", 2,
               "2 of 102 sockets got 'port unreachable' (ICMP): nothing listens on 192.0.2.1:4242",
               "-p");
    in.half_open = 4;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4);
    assert_one("lost datagrams", 4, "no answer", "--prove yes");
    nobody_answers(PHASE_RECEIVE, REASON_HALF_OPEN);
    assert_one("nobody answers", 100, "(dns over UDP): 100 silent", "a firewall drops");
}

static void server_that_refuses_and_server_that_ends_differ(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_REFUSED, 2);
    assert_one("nobody listens", 2, "2 of 102 connects refused: nothing listens on 192.0.2.1:4242",
               "-p");
    diagnose(PHASE_RECEIVE, REASON_PEER, 2);
    assert_one("the server's limits", 2, "before an answer", "a limit on connections");
}

static void what_bound_most_comes_first(void **state)
{
    (void)state;
    in.half_open = 50;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.ended[PHASE_BIND][REASON_PORTS], 7);
    tally_add(&tally.connections.ended[PHASE_RECEIVE][REASON_PEER], 90);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 3);
    assert_int_equal(d.lines[0].connections, 90);
    assert_int_equal(d.lines[1].connections, 50);
    assert_int_equal(d.lines[2].connections, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_said_when_all_finished_or_were_cancelled),
        TEST(ports_and_fds_are_named),
        TEST(stalled_connects_are_told_apart_by_what_the_kernel_counts),
        TEST(tcp_memory_is_not_blamed_below_its_limit),
        TEST(address_space_that_is_used_up_is_named),
        TEST(nobody_who_answers_is_told_apart_from_limits),
        TEST(one_answer_is_enough_for_the_limits),
        TEST(who_was_asked_nothing_is_not_blamed_for_silence),
        TEST(killed_server_is_no_limit),
        TEST(connections_gone_deaf_have_all_the_timeouts),
        TEST(what_the_deaf_acknowledge_tells_the_network_from_the_server),
        TEST(the_deaf_over_udp_acknowledge_nothing),
        TEST(idle_timeout_is_named_with_the_time),
        TEST(there_is_room_for_a_line_of_each),
        TEST(what_nobody_knows_is_never_a_number),
        TEST(half_open_ones_point_to_the_accept_queue),
        TEST(over_udp_there_is_no_queue_and_no_handshake),
        TEST(server_that_refuses_and_server_that_ends_differ),
        TEST(what_bound_most_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
