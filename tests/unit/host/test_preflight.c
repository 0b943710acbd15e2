/* SPDX-License-Identifier: MIT
 * test_preflight: each limit from both sides, and the command that lifts it. */
#include "base/log.h"
#include "host/preflight_report.h"
#include "host/preflight_threads.h"
#include "host/preflight_tuples.h"
#include "preflight_steps.h"
#include "print_steps.h"

#include <stdlib.h>

static void what_suffices_exactly_is_ok(void **state)
{
    struct preflight p;

    (void)state;
    preflight_client(&p, &host_of_10000, &ask_10000);
    for (unsigned i = 0; i < p.n_lines; i++)
        if (p.lines[i].level != PREFLIGHT_OK)
            fail_msg("'%s' is not ok", p.lines[i].name);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
}

/* The server has a single socket, and the kernel's limits on TCP are others'. */
static void udp_sockets_need_nothing_of_tcp(void **state)
{
    static const char *const of_tcp[] = {"tcp_", "TIME_WAIT", "sustainable", "somaxconn",
                                         "tw_buckets"};
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight tcp, udp;

    (void)state;
    ask.udp = true;
    host.file_max = 1000 + 10000 + 128;
    host.epoll_watches = 10000 + 128;
    host.memory_available_bytes =
        RESERVE + (10000 * (2900ull + 95) + 1500000 + 2 * (380000 + 40000)) / 80 * 100 + 100;
    preflight_client(&udp, &host, &ask);
    assert_int_equal(preflight_worst(&udp), PREFLIGHT_OK);
    preflight_client(&tcp, &host_of_10000, &ask_10000);
    for (size_t i = 0; i < sizeof of_tcp / sizeof *of_tcp; i++)
        if (!has_line(&tcp, of_tcp[i]) || has_line(&udp, of_tcp[i]))
            fail_msg("%s", of_tcp[i]);
    assert_true(preflight_tuples_churn_per_s(&host, &ask) == HOST_LIMITS_UNKNOWN);
    host.tcp_timestamps = 0;
    assert_true(preflight_tuples_churn_per_s(&host, &ask) == HOST_LIMITS_UNKNOWN);
    ask.n_tuples = 9999;
    preflight_client(&udp, &host, &ask);
    assert_int_equal(find(&udp, "source tuples")->level, PREFLIGHT_STOP);
}

/* With every line that there can be; preflight_line_add() aborts if there are too many. */
static void the_longest_plan_has_room(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    host.cgroup_available_bytes = host.memory_available_bytes;
    host.address_space_bytes = host.memory_available_bytes;
    host.tcp_timestamps = 0;
    ask.lacks_route = true;
    preflight_client(&p, &host, &ask);
    assert_true(has_line(&p, "route") && has_line(&p, "cgroup memory") &&
                has_line(&p, "address space") && has_line(&p, "lowest port"));
    assert_in_range(p.n_lines, 25, PREFLIGHT_LINES);
}

/* One limit made worse by one, and the line that must report it. */
struct worse {
    size_t offset;
    uint64_t value;
    const char *name;
    enum preflight_level level;
    const char *in_fix;
};

#define FACT(field) offsetof(struct host_limits, field)

static void each_limit_that_is_short_by_one_is_named(void **state)
{
    static const struct worse cases[] = {
        {FACT(nofile), 5063, "fd limit per table", PREFLIGHT_STOP, "ulimit -n 5064"},
        {FACT(file_max), 21127, "fs.file-max", PREFLIGHT_STOP, "sysctl -w fs.file-max=21128"},
        {FACT(epoll_watches), 20127, "fs.epoll.max_user_watches", PREFLIGHT_STOP, "=20128"},
        {FACT(threads_max), 201, "kernel.threads-max", PREFLIGHT_STOP,
         "sysctl -w kernel.threads-max=202"},
        {FACT(pid_max), 201, "kernel.pid_max", PREFLIGHT_STOP, "sysctl -w kernel.pid_max=202"},
        {FACT(user_threads_max), 51, "threads of this user", PREFLIGHT_STOP,
         "ulimit -u 52, or use fewer connections, which need fewer threads"},
        {FACT(cgroup_threads_max), 21, "cgroup pids.max", PREFLIGHT_STOP,
         "raise /sys/fs/cgroup/u/pids.max to 22 (systemd: TasksMax=)"},
        {FACT(memory_available_bytes), RESERVE + NEEDED - 1, "memory (bytes available)",
         PREFLIGHT_STOP, "(about 8458 bytes each), or add memory"},
        {FACT(memory_available_bytes), RESERVE + NEEDED, "memory (bytes available)", PREFLIGHT_WARN,
         "80 %"},
        {FACT(tcp_hash_entries), 4999, "net.ipv4.tcp_ehash_entries", PREFLIGHT_WARN,
         "thash_entries=20000, or use a network namespace with a larger table (tcpscaler(7)): "
         "chains of 4.0 connections"},
        {FACT(tcp_pages_max), 5009, "net.ipv4.tcp_mem (pages)", PREFLIGHT_WARN,
         "net.ipv4.tcp_mem='2505 3757 5010'"},
        {FACT(conntrack_max), 10006, "net.netfilter.nf_conntrack_max", PREFLIGHT_WARN,
         "=10007, or a notrack rule (tcpscaler-setup-client --notrack --apply)"},
        {FACT(time_wait_buckets), 9999, "net.ipv4.tcp_max_tw_buckets", PREFLIGHT_WARN,
         "--close rst"},
        {FACT(orphans_max), 9999, "net.ipv4.tcp_max_orphans", PREFLIGHT_WARN, "--close rst"},
        {FACT(somaxconn), 255, "net.core.somaxconn", PREFLIGHT_WARN,
         "net.core.somaxconn=256 and restart the server, or --connect-window 255"},
        {FACT(somaxconn), 0, "net.core.somaxconn", PREFLIGHT_WARN, "--connect-window 1"},
        {FACT(syn_backlog), 341, "net.ipv4.tcp_max_syn_backlog", PREFLIGHT_WARN, "=342"},
        {FACT(tcp_timestamps), 0, "net.ipv4.tcp_timestamps", PREFLIGHT_WARN, "tcp_timestamps=1"},
        {FACT(first_unprivileged_port), 1025, "lowest port bindable", PREFLIGHT_STOP,
         "ip_unprivileged_port_start=1024"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host_limits host = host_of_10000;
        struct preflight p;

        memcpy((char *)&host + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        preflight_client(&p, &host, &ask_10000);
        assert_only(&p, cases[i].name, cases[i].level, cases[i].in_fix);
    }
}

/* --find connect-rate opens connections when they are due. */
static void a_fixed_window_cannot_be_made_smaller(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    ask.window_is_fixed = true;
    host.somaxconn = 255;
    preflight_client(&p, &host, &ask);
    assert_string_equal(find(&p, "net.core.somaxconn")->fix,
                        "sysctl -w net.core.somaxconn=256 and restart the server");
}

static void server_is_sent_to_its_own_setup_script(void **state)
{
    const struct preflight_server ask = {10000, 2, true, 64, 4096, false, false, false};
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.conntrack_max = 10006;
    preflight_server(&p, &host, &ask);
    for (unsigned i = 0; i < p.n_lines; i++)
        if (strcmp(p.lines[i].name, "net.netfilter.nf_conntrack_max") == 0) {
            assert_non_null(strstr(p.lines[i].fix, "(tcpscaler-setup-server --notrack --apply)"));
            return;
        }
    fail();
}

static void only_the_host_can_track_more_connections_of_a_namespace(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.conntrack_max = 10006;
    host.conntrack_max_is_of_host = true;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "net.netfilter.nf_conntrack_max", PREFLIGHT_WARN,
                "=10007 on the host, outside of this network namespace, or a notrack rule");
}

static void a_maximum_of_0_does_not_limit_conntrack(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.conntrack_max = 0;
    preflight_client(&p, &host, &ask_10000);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
    assert_false(has_line(&p, "nf_conntrack_max"));
}

static void what_is_not_known_does_not_stop(void **state)
{
    struct host_limits host;
    struct preflight p;

    (void)state;
    memset(&host, 0xff, sizeof host);
    /* a flag has no such value */
    host.cgroup_is_v2 = host.is_exempt_from_file_max = host.data_is_limit = false;
    preflight_client(&p, &host, &ask_10000);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
    preflight_server(&p, &host,
                     &(struct preflight_server){10000, 2, true, 64, 4096, false, false, false});
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
}

static void server_elsewhere_needs_half_of_the_sockets_here(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.file_max = 11128;
    host.somaxconn = 1;
    ask.peer_is_here = false;
    preflight_client(&p, &host, &ask);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
}

static void one_shared_table_has_to_hold_all(void **state)
{
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    ask.own_fd_tables = false;
    host.nofile = 10063;
    preflight_client(&p, &host, &ask);
    assert_int_equal(find(&p, "fd limit per table")->level, PREFLIGHT_STOP);
    assert_string_equal(find(&p, "fd limit per table")->fix, "ulimit -n 10064");
    assert_int_equal(find(&p, "fd tables")->level, PREFLIGHT_WARN);
    host.nr_open = 10064;
    preflight_client(&p, &host, &ask);
    assert_string_equal(find(&p, "fd limit per table")->fix, "ulimit -n 10064");
    host.nr_open = 10063;
    preflight_client(&p, &host, &ask);
    assert_string_equal(find(&p, "fd limit per table")->fix,
                        "sysctl -w fs.nr_open=10064, then ulimit -n 10064");
}

static void main_thread_has_a_descriptor_for_each_thread(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_threads = 5000;
    preflight_client(&p, &host_of_10000, &ask);
    assert_int_equal(find(&p, "fd limit per table")->level, PREFLIGHT_OK);
    ask.n_threads = 5001;
    preflight_client(&p, &host_of_10000, &ask);
    assert_int_equal(find(&p, "fd limit per table")->level, PREFLIGHT_STOP);
    assert_string_equal(find(&p, "fd limit per table")->fix,
                        "ulimit -n 5065 (5001 threads), or --threads 5000");
}

/* 36 tables of 36 connections fit into 100 descriptors each.  64 are used by the program. */
static void another_number_of_threads_is_a_remedy_only_if_it_suffices(void **state)
{
    static const struct {
        uint64_t nofile, n_connections;
        uint32_t n_threads;
        const char *fix;
    } cases[] = {
        {100, 1296, 1, "use --threads auto (each thread has its own table), or ulimit -n 1360"},
        {100, 1297, 1, "ulimit -n 1361"},
        {100, 1296, 37, "ulimit -n 101 (37 threads), or --threads 36"},
        {100, 1297, 37, "ulimit -n 101 (37 threads), or fewer connections"},
        {65, 2, 2, "ulimit -n 66 (2 threads), or fewer connections"},
        {64, 1, 1, "ulimit -n 65"},
        {20, 3, 3, "ulimit -n 67"},
    };
    struct preflight_client ask = ask_10000;
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host.nofile = cases[i].nofile;
        ask.n_connections = cases[i].n_connections;
        ask.n_threads = cases[i].n_threads;
        preflight_client(&p, &host, &ask);
        assert_string_equal(find(&p, "fd limit per table")->fix, cases[i].fix);
    }
}

/* A table holds 5,000 connections. */
static void fewer_threads_are_a_remedy_only_if_they_hold_the_connections(void **state)
{
    static const struct {
        uint64_t n_connections;
        uint32_t n_threads, n_helpers;
        const char *fix;
    } cases[] = {
        {10000, 4, 0, "ulimit -u 54, or use fewer --threads"},
        {10000, 3, 1, "ulimit -u 54, or use fewer connections, which need fewer threads"},
        {5000, 3, 1, "ulimit -u 54, or use fewer --threads"},
        {5000, 1, 2, "ulimit -u 53"},
    };
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask.n_connections = cases[i].n_connections;
        ask.n_threads = cases[i].n_threads;
        ask.n_helper_threads = cases[i].n_helpers;
        preflight_client(&p, &host_of_10000, &ask);
        assert_string_equal(find(&p, "threads of this user")->fix, cases[i].fix);
    }
}

static void helper_threads_are_threads(void **state)
{
    static const char *const limits[] = {"kernel.threads-max", "threads of this user",
                                         "cgroup pids.max"};
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.n_helper_threads = 1;
    preflight_client(&p, &host_of_10000, &ask);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        assert_int_equal(find(&p, limits[i])->level, PREFLIGHT_STOP);
}

static void threads_of_the_server_are_limited(void **state)
{
    struct preflight p;

    (void)state;
    preflight_server(&p, &host_of_10000,
                     &(struct preflight_server){10000, 2, true, 64, 256, false, false, false});
    assert_int_equal(find(&p, "cgroup pids.max")->level, PREFLIGHT_OK);
    preflight_server(&p, &host_of_10000,
                     &(struct preflight_server){10000, 3, true, 64, 256, false, false, false});
    assert_int_equal(find(&p, "cgroup pids.max")->level, PREFLIGHT_STOP);
    assert_int_equal(find(&p, "cgroup pids.max")->available, 22);
    assert_int_equal(find(&p, "cgroup pids.max")->needed, 23);
}

static void the_tightest_limit_on_threads_counts(void **state)
{
    struct host_limits host = host_of_10000;

    (void)state;
    assert_int_equal(preflight_threads_left(&host), 2);
    host.cgroup_threads_max = 21;
    assert_int_equal(preflight_threads_left(&host), 1);
    assert_string_equal(preflight_threads_limit(&host), "the cgroup's pids.max");
    host.user_threads_max = 40; /* lowered while more were running */
    assert_int_equal(preflight_threads_left(&host), 0);
    assert_string_equal(preflight_threads_limit(&host), "ulimit -u");
    host.user_threads_max = host.cgroup_threads_max = HOST_LIMITS_UNKNOWN;
    assert_int_equal(preflight_threads_left(&host), 2);
    host.pid_max = 201;
    assert_int_equal(preflight_threads_left(&host), 1);
    assert_string_equal(preflight_threads_limit(&host), "kernel.pid_max");
    host.threads_max = host.pid_max = HOST_LIMITS_UNKNOWN;
    assert_true(preflight_threads_left(&host) == HOST_LIMITS_UNKNOWN);
    assert_null(preflight_threads_limit(&host));
}

static void server_is_told_of_its_accept_queue(void **state)
{
    struct preflight p;

    (void)state;
    preflight_server(&p, &host_of_10000,
                     &(struct preflight_server){10000, 2, true, 64, 4096, false, false, false});
    assert_int_equal(find(&p, "net.core.somaxconn")->level, PREFLIGHT_WARN);
    assert_non_null(strstr(find(&p, "net.core.somaxconn")->fix, "--backlog 256"));
    assert_int_equal(find(&p, "fs.file-max")->needed, 11128);
    assert_non_null(strstr(find(&p, "net.ipv4.tcp_abort_on_overflow")->fix, "half-open"));
}

static void a_warning_on_stderr_begins_with_warning(void **state)
{
    const struct preflight p = {.n_lines = 1,
                                .lines = {{.name = "limit",
                                           .available = 1,
                                           .needed = 2,
                                           .level = PREFLIGHT_WARN,
                                           .fix = "raise"}}};
    char *text;

    (void)state;
    log_set_stream(print_open());
    preflight_report_log(&p, "run", PREFLIGHT_WARN);
    log_set_stream(NULL);
    text = print_close();
    assert_has(text, ": warning: run: limit: available 1, needed 2: raise\n");
    free(text);
}

static void root_may_exceed_file_max(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.file_max--;
    host.is_exempt_from_file_max = true;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "fs.file-max", PREFLIGHT_WARN, "sysctl -w fs.file-max=21128");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_suffices_exactly_is_ok),
        cmocka_unit_test(the_longest_plan_has_room),
        cmocka_unit_test(a_warning_on_stderr_begins_with_warning),
        cmocka_unit_test(udp_sockets_need_nothing_of_tcp),
        cmocka_unit_test(each_limit_that_is_short_by_one_is_named),
        cmocka_unit_test(a_fixed_window_cannot_be_made_smaller),
        cmocka_unit_test(server_is_sent_to_its_own_setup_script),
        cmocka_unit_test(only_the_host_can_track_more_connections_of_a_namespace),
        cmocka_unit_test(a_maximum_of_0_does_not_limit_conntrack),
        cmocka_unit_test(what_is_not_known_does_not_stop),
        cmocka_unit_test(server_elsewhere_needs_half_of_the_sockets_here),
        cmocka_unit_test(one_shared_table_has_to_hold_all),
        cmocka_unit_test(main_thread_has_a_descriptor_for_each_thread),
        cmocka_unit_test(another_number_of_threads_is_a_remedy_only_if_it_suffices),
        cmocka_unit_test(fewer_threads_are_a_remedy_only_if_they_hold_the_connections),
        cmocka_unit_test(helper_threads_are_threads),
        cmocka_unit_test(threads_of_the_server_are_limited),
        cmocka_unit_test(the_tightest_limit_on_threads_counts),
        cmocka_unit_test(server_is_told_of_its_accept_queue),
        cmocka_unit_test(root_may_exceed_file_max),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
