/* SPDX-License-Identifier: MIT
 * test_diagnosis: which outcome points to which limit. */
#include "diagnosis_steps.h"

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
               "wait 60 s, or add tuples with --source or --sport; with net.ipv4.tcp_timestamps=1");
    host.tcp_timestamps = 1;
    diagnose(PHASE_BIND, REASON_PORTS, 28000);
    assert_one("source ports", 28000, "28,000 of 28,232", "wait 60 s, add tuples");
    assert_non_null(strstr(d.lines[0].remedy, "--close rst"));
    in.listens = true; /* closes first, whatever --close says */
    diagnose(PHASE_BIND, REASON_PORTS, 28000);
    assert_one("source ports", 28000, "28,000 of 28,232", "wait 60 s, or add tuples");
    assert_null(strstr(d.lines[0].remedy, "--close rst"));
    in.listens = false;
    in.tuples_in_use = 28000;
    diagnose(PHASE_BIND, REASON_PORTS, 28000);
    assert_one("source ports", 28000,
               "28,000 of 28,232 source tuples were in use by other sockets before the run",
               "--source");
    in.tuples_in_use = in.tuples_in_time_wait = 4;
    diagnose(PHASE_BIND, REASON_PORTS, 5);
    assert_one("source ports", 5, "source tuples: 28,232; sockets in TIME_WAIT on this host: 77",
               "--source");
    diagnose(PHASE_CONNECT, REASON_PORTS, 6);
    assert_one("source ports", 6, "28,232", "--source");
    in.churns = true;
    in.churn_per_s = 16.7;
    diagnose(PHASE_CONNECT, REASON_PORTS, 6);
    assert_one("source ports", 6,
               "source tuples: 28,232; sockets in TIME_WAIT towards the server: 28,000; 16.7 "
               "connections/s achieved",
               "--close rst");
    in.in_time_wait = 90000; /* earlier runs left some that have other tuples */
    diagnose(PHASE_CONNECT, REASON_PORTS, 6);
    assert_one("source ports", 6, "28,232; sockets in TIME_WAIT towards the server: 90,000; ",
               "--close rst");
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "fds per table: 20,000; each thread has its own",
               "use --threads auto, which adds");
    in.threads_are_auto = true;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "20,000", "--threads auto cannot add more");
    in.own_fd_tables = false;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "all threads share one",
               "raise the hard limit (ulimit -Hn): all threads share one table");
    host.files_open = 990000;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fs.file-max", 7, "990,000 of 1,000,000 files open", "fs.file-max=1000014");
    host.is_exempt_from_file_max = true;
    diagnose(PHASE_SOCKET, REASON_FDS, 7);
    assert_one("fd limit", 7, "all threads share one", "ulimit -Hn");
}

static void stalled_connects_are_told_apart_by_what_the_kernel_counts(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("the path to the server", 9, "9 SYNs without an answer within --connect-timeout",
               "firewall");
    tally_add(&tally.connections.syn_retransmits, 18);
    diagnosis_make(&d, &in);
    assert_one("the path to the server", 9,
               "18 SYNs retransmitted, the last ones without an answer", "firewall");
    in.listen_overflows = 9; /* at least one for each */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("the server's accept queue", 9, "9 accept queue overflows", "net.core.somaxconn");
    host.conntrack_used = 990;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("net.netfilter.nf_conntrack_max", 9, "990 of 1,000 connections tracked",
               "raise it, or add a notrack rule");
    host.conntrack_max_is_of_host = true;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("net.netfilter.nf_conntrack_max", 9, "990 of 1,000 connections tracked",
               "on the host");
    host.conntrack_max = 0; /* no limit */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("the server's accept queue", 9, "9 accept queue overflows", "net.core.somaxconn");
    host.tcp_pages_used = 980; /* the stronger explanation */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9);
    assert_one("net.ipv4.tcp_mem", 9, "980 of 1,000 pages", "net.ipv4.tcp_mem");
}

/* 20 of 30 sent another SYN before the run was interrupted. */
static void connects_that_an_interruption_cancelled_were_stalled(void **state)
{
    (void)state;
    in.listen_overflows = 0;
    memset(&tally, 0, sizeof tally);
    tally_add(&tally.connections.attempted, 30);
    tally_add(&tally.connections.ended[PHASE_RUN][REASON_CANCELLED], 30);
    diagnosis_make(&d, &in);
    assert_int_equal(d.n_lines, 0); /* it was too early to say */
    tally_add(&tally.connections.syn_retransmits, 20);
    diagnosis_make(&d, &in);
    assert_one("the path to the server", 20, "20 SYNs retransmitted", "firewall");
    tally_add(&tally.connections.syn_retransmits, 20);
    diagnosis_make(&d, &in);
    assert_one("the path to the server", 30, "40 SYNs retransmitted", "firewall");
    tally_add(&tally.connections.ended[PHASE_CONNECT][REASON_TIMEOUT], 5); /* it gave up */
    diagnosis_make(&d, &in);
    assert_one("the path to the server", 5, "40 SYNs retransmitted", "firewall");
    tally_add(&tally.connections.connected, 1);
    diagnosis_make(&d, &in);
    assert_one("the path to the server", 5, "40 SYNs retransmitted", "firewall");
}

static void limit_of_epoll_is_named(void **state)
{
    (void)state;
    host.epoll_watches = 200000;
    diagnose(PHASE_CONNECT, REASON_WATCHES, 50);
    assert_one("fs.epoll.max_user_watches", 50, "of all processes of this user: at most 200,000",
               "sysctl -w fs.epoll.max_user_watches=200100");
    host.epoll_watches = HOST_LIMITS_UNKNOWN;
    diagnose(PHASE_CONNECT, REASON_WATCHES, 50);
    assert_one("fs.epoll.max_user_watches", 50, "the limit is unknown here",
               "fs.epoll.max_user_watches");
    assert_null(strchr(d.lines[0].remedy, '=')); /* to what, is not known */
}

static void tcp_memory_is_not_blamed_below_its_limit(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_MEMORY, 3);
    assert_one("memory", 3, "pages used by TCP: 10, at most 1,000", "tcp_mem is not reached");
    host.tcp_pages_used = 969;
    diagnose(PHASE_CONNECT, REASON_MEMORY, 3);
    assert_one("memory", 3, "pages used by TCP: 969, at most 1,000", "tcp_mem is not reached");
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9); /* and none for connects without an answer */
    assert_one("the path to the server", 9, "9 SYNs without", "firewall");
}

/* At 97 % of it the kernel refuses memory to some sockets, and lets the SYNs of others go by. */
static void tcp_memory_at_its_limit_is_blamed_for_all_that_it_costs(void **state)
{
    (void)state;
    host.tcp_pages_used = 970;
    diagnose(PHASE_CONNECT, REASON_MEMORY, 3);
    assert_one("net.ipv4.tcp_mem", 3, "970 of 1,000 pages", "third value of net.ipv4.tcp_mem");
    tally_add(&tally.connections.ended[PHASE_CONNECT][REASON_TIMEOUT], 4);
    diagnosis_make(&d, &in);
    assert_one("net.ipv4.tcp_mem", 7, "970 of 1,000 pages", "third value of net.ipv4.tcp_mem");
}

/* It is not the kernel that refused memory then, but the client that stopped before. */
static void shortage_that_stopped_the_client_is_the_evidence(void **state)
{
    (void)state;
    in.shortage = "12 MiB available, 30 MiB needed";
    host.tcp_pages_used = 1000;
    host.address_space_bytes = 100 * 1024;
    diagnose(PHASE_SOCKET, REASON_MEMORY, 9);
    assert_one("memory", 9, "12 MiB available, 30 MiB needed", "use fewer connections");
    diagnose(PHASE_CONNECT, REASON_REFUSED, 9); /* none ended for lack of memory */
    assert_string_not_equal(d.lines[0].limit, "memory");
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
               "100 KiB of address space left (RLIMIT_AS); memory available: 20.0 GiB",
               "ulimit -v");
    host.data_is_limit = true;
    diagnose(PHASE_RECEIVE, REASON_MEMORY, 11992);
    assert_one("ulimit -d", 11992, "100 KiB of private memory left (RLIMIT_DATA); memory",
               "ulimit -d unlimited");
    host.address_space_bytes = 30ull << 30; /* more than there is memory */
    diagnose(PHASE_RECEIVE, REASON_MEMORY, 11992);
    assert_one("memory", 11992, "memory available: 20.0 GiB; pages used by TCP: 180",
               "not visible in this namespace");
    host.address_space_bytes = HOST_LIMITS_UNKNOWN;
    diagnose(PHASE_RECEIVE, REASON_MEMORY, 11992);
    assert_one("memory", 11992, "pages used by TCP: 180", "not visible in this namespace");
}

static void all_ends_at_once(void)
{
    memset(&tally, 0, sizeof tally);
    for (int p = 0; p < OUTCOME_N_PHASES; p++)
        for (int r = 0; r < OUTCOME_N_REASONS; r++)
            tally_add(&tally.connections.ended[p][r], (uint64_t)(1 + r));
    in.half_open = 3;
    in.unresponsive = 2;
    diagnosis_make(&d, &in);
}

static void there_is_room_for_a_line_of_each(void **state)
{
    (void)state;
    all_ends_at_once();
    assert_in_range(d.n_lines, 8, DIAGNOSIS_LINES);
    for (unsigned i = 1; i < d.n_lines; i++)
        assert_true(d.lines[i].connections <= d.lines[i - 1].connections);
}

static void unknown_figures_are_never_printed_as_numbers_or_limits(void **state)
{
    (void)state;
    memset(&host, 0xff, sizeof host);
    in.listen_overflows = in.n_tuples = in.in_time_wait = HOST_LIMITS_UNKNOWN;
    for (int churns = 0; churns < 2; churns++) {
        in.churns = churns == 1;
        all_ends_at_once();
        assert_true(d.n_lines > 0);
        for (unsigned i = 0; i < d.n_lines; i++)
            if (strstr(d.lines[i].evidence, "184467") != NULL ||
                strstr(d.lines[i].evidence, "18,446") != NULL ||
                strstr(d.lines[i].evidence, "16.0 EiB") != NULL ||
                strstr(d.lines[i].evidence, "at most unknown") != NULL)
                fail_msg("'%s'", d.lines[i].evidence);
    }
}

static void the_limit_of_most_connections_comes_first(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_said_when_all_finished_or_were_cancelled),
        TEST(ports_and_fds_are_named),
        TEST(stalled_connects_are_told_apart_by_what_the_kernel_counts),
        TEST(connects_that_an_interruption_cancelled_were_stalled),
        TEST(limit_of_epoll_is_named),
        TEST(tcp_memory_is_not_blamed_below_its_limit),
        TEST(tcp_memory_at_its_limit_is_blamed_for_all_that_it_costs),
        TEST(shortage_that_stopped_the_client_is_the_evidence),
        TEST(address_space_that_is_used_up_is_named),
        TEST(there_is_room_for_a_line_of_each),
        TEST(unknown_figures_are_never_printed_as_numbers_or_limits),
        TEST(the_limit_of_most_connections_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
