/* SPDX-License-Identifier: MIT
 * test_diagnosis: each kind of end points to its limit. */
#include "diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct hostfacts roomy = {
    .nofile = 20000,
    .file_max = 1000000,
    .files_open = 1000,
    .tcp_pages_max = 1000,
    .tcp_pages_used = 10,
    .sockets_in_time_wait = 77,
    .conntrack_max = 1000,
    .conntrack_used = 10,
};

static struct tally tally;
static struct hostfacts host;
static struct diagnosis d;
static double churn_per_s;

/* One kind of end, so many times. */
static void diagnose(enum outcome_phase phase, enum outcome_reason reason, uint64_t n,
                     uint64_t half_open)
{
    const struct diagnosis_input in = {.tally = &tally,
                                       .half_open = half_open,
                                       .host = &host,
                                       .listen_overflows = 5,
                                       .n_tuples = 28232,
                                       .in_time_wait = 28000,
                                       .churns = churn_per_s > 0,
                                       .churn_per_s = churn_per_s};

    memset(&tally, 0, sizeof tally);
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
    churn_per_s = 0;
    return 0;
}

static void nothing_is_said_when_all_finished_or_were_cancelled(void **state)
{
    (void)state;
    diagnose(PHASE_RUN, REASON_FINISHED, 5, 0);
    assert_int_equal(d.n_lines, 0);
    diagnose(PHASE_RUN, REASON_CANCELLED, 5, 0);
    assert_int_equal(d.n_lines, 0);
}

static void ports_and_fds_are_named(void **state)
{
    (void)state;
    diagnose(PHASE_BIND, REASON_PORTS, 5, 0);
    assert_one("source ports", 5, "28232 source tuples, 77 sockets in TIME_WAIT", "--source");
    diagnose(PHASE_CONNECT, REASON_PORTS, 6, 0);
    assert_one("source ports", 6, "28232", "--source");
    churn_per_s = 16.7;
    diagnose(PHASE_CONNECT, REASON_PORTS, 6, 0);
    assert_one("source ports", 6, "28000 in TIME_WAIT of 28232; 16.7 connections/s", "--close rst");
    diagnose(PHASE_SOCKET, REASON_FDS, 7, 0);
    assert_one("fd limit", 7, "20000 per fd table", "ulimit -Hn");
    host.files_open = 990000;
    diagnose(PHASE_SOCKET, REASON_FDS, 7, 0);
    assert_one("fs.file-max", 7, "990000 files open of 1000000", "fs.file-max=1000014");
}

static void stalled_connects_are_told_apart_by_what_the_kernel_counts(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9, 0);
    assert_one("the path to the server", 9, "SYNs were sent again", "firewall");
    host.conntrack_used = 990;
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9, 0);
    assert_one("net.netfilter.nf_conntrack_max", 9, "990 connections tracked of 1000", "notrack");
    host.tcp_pages_used = 980; /* the stronger explanation */
    diagnose(PHASE_CONNECT, REASON_TIMEOUT, 9, 0);
    assert_one("net.ipv4.tcp_mem", 9, "980 pages of 1000", "net.ipv4.tcp_mem");
}

static void refused_memory_is_named_also_below_the_limit(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_MEMORY, 3, 0);
    assert_one("net.ipv4.tcp_mem", 3, "10 pages of 1000", "more memory");
}

static void half_open_ones_point_to_the_accept_queue(void **state)
{
    (void)state;
    diagnose(PHASE_RECEIVE, REASON_HALF_OPEN, 4, 4);
    assert_one("the server's accept queue or connection limit", 4, "5 accept queue overflows",
               "backlog");
}

static void server_that_refuses_and_server_that_ends_differ(void **state)
{
    (void)state;
    diagnose(PHASE_CONNECT, REASON_REFUSED, 2, 0);
    assert_one("nobody listens", 2, "reset", "-p");
    diagnose(PHASE_RECEIVE, REASON_PEER, 2, 0);
    assert_one("the server's limits", 2, "ended them", "idle timeout");
}

static void what_bound_most_comes_first(void **state)
{
    const struct diagnosis_input in = {
        .tally = &tally, .half_open = 50, .host = &host, .n_tuples = 1, .listen_overflows = 0};

    (void)state;
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
        cmocka_unit_test_setup(nothing_is_said_when_all_finished_or_were_cancelled, setup),
        cmocka_unit_test_setup(ports_and_fds_are_named, setup),
        cmocka_unit_test_setup(stalled_connects_are_told_apart_by_what_the_kernel_counts, setup),
        cmocka_unit_test_setup(refused_memory_is_named_also_below_the_limit, setup),
        cmocka_unit_test_setup(half_open_ones_point_to_the_accept_queue, setup),
        cmocka_unit_test_setup(server_that_refuses_and_server_that_ends_differ, setup),
        cmocka_unit_test_setup(what_bound_most_comes_first, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
