/* SPDX-License-Identifier: MIT
 * test_watch: samples of a made-up host, whose server ends in several ways, and of a listener of
 * this process. */
#include "host/watch/watch.h"

#include "base/clock.h"
#include "sock_diag_steps.h"
#include "tree.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PORT = 4242 };

static struct watch w;
static char why[WATCH_TEXT_BYTES];

static int open_text(const char *text)
{
    struct watch_target target;

    assert_int_equal(watch_target_parse(&target, text), 0);
    return watch_open(&w, tree_path("proc"), &target, PORT, why);
}

/* A server with a child, in a group of its own. */
static int make_host(void **state)
{
    char mounts[200];

    if (make_directory(state) != 0)
        return -1;
    snprintf(mounts, sizeof mounts, "41 31 0:38 / %s/v2 rw - cgroup2 cgroup2 rw\n", directory);
    tree_put("proc/self/mountinfo", mounts);
    tree_put_process(12, 1, 100, 30, 10);
    tree_put("proc/12/statm", "1000 200 50 1 0 10 0\n");
    tree_put("proc/12/smaps_rollup", "5-6 ---p 0 0 0 [rollup]\nRss:   800 kB\nPss:    500 kB\n");
    tree_put("proc/12/cgroup", "0::/server\n");
    tree_put("proc/12/net/netstat", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 5 7\n");
    tree_put_process(13, 12, 100, 3, 1);
    tree_put("proc/13/statm", "1000 100 50 1 0 10 0\n");
    tree_put("proc/13/smaps_rollup", "5-6 ---p 0 0 0 [rollup]\nRss:   400 kB\nPss:    100 kB\n");
    tree_put("v2/cgroup.procs", "");
    tree_put("v2/server/cgroup.procs", "12\n13\n");
    tree_put("v2/server/memory.current", "1000000\n");
    tree_put("v2/server/memory.stat", "anon 300000\nkernel 200000\nsock 7000\n");
    return 0;
}

static void both_processes_are_added_up(void **state)
{
    const uint64_t tick_us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct watch_sample s;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    assert_string_equal(w.name, "server 12 (process 12)");
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_PROCESSES], 2);
    assert_int_equal(s.at[WATCH_USER_US], 33 * tick_us);
    assert_int_equal(s.at[WATCH_SYSTEM_US], 11 * tick_us);
    assert_int_equal(s.at[WATCH_RSS_BYTES], 300 * page);
    assert_int_equal(s.at[WATCH_PSS_BYTES], 600 * 1024);
    assert_int_equal(s.at[WATCH_LISTEN_OVERFLOWS], 5);
    assert_int_equal(s.at[WATCH_LISTEN_DROPS], 7);
    assert_int_equal(s.at[WATCH_CONNECTIONS], WATCH_UNKNOWN);
    assert_int_equal(s.at[WATCH_FDS], WATCH_UNKNOWN);
}

/* As if the clock had been set: the offset is not that of the clock. */
static void samples_follow_the_clock_on_demand(void **state)
{
    const uint64_t hour_ns = UINT64_C(3600000000000), offset_ns = clock_realtime_offset_ns();
    struct watch_sample s;
    uint64_t first_ns;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    w.realtime_offset_ns -= hour_ns;
    assert_true(watch_take(&w, &s));
    first_ns = s.at[WATCH_EPOCH_NS];
    assert_true(first_ns < offset_ns + clock_now_ns() - hour_ns / 2);
    assert_true(watch_take(&w, &s));
    assert_in_range(s.at[WATCH_EPOCH_NS] - first_ns, 0, hour_ns / 2);
    watch_follow_clock(&w);
    assert_true(watch_take(&w, &s));
    assert_in_range(s.at[WATCH_EPOCH_NS] - first_ns, hour_ns / 2, 2 * hour_ns);
}

static void samples_stay_in_order_if_the_clock_is_set_back(void **state)
{
    const uint64_t hour_ns = UINT64_C(3600000000000);
    struct watch_sample first, s;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    w.realtime_offset_ns += hour_ns;
    assert_true(watch_take(&w, &first));
    watch_follow_clock(&w);
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_EPOCH_NS], first.at[WATCH_EPOCH_NS]);
}

static void memory_of_a_group_counts_if_nobody_else_is_in_it(void **state)
{
    struct watch_sample s;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_CGROUP_BYTES], 1000000);
    assert_int_equal(s.at[WATCH_CGROUP_USER_BYTES], 300000);
    assert_int_equal(s.at[WATCH_CGROUP_KERNEL_BYTES], 207000);
    tree_put("v2/server/cgroup.procs", "12\n13\n77\n");
    assert_int_equal(open_text("12"), 0);
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_CGROUP_BYTES], WATCH_UNKNOWN);
    assert_int_equal(s.at[WATCH_CGROUP_KERNEL_BYTES], WATCH_UNKNOWN);
}

static void the_end_of_the_server_is_noticed(void **state)
{
    struct watch_sample s;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    tree_remove("proc/12");
    assert_false(watch_take(&w, &s));
    assert_string_equal(w.end, "process 12 has ended");
    assert_int_equal(open_text("12"), -1);
    assert_string_equal(why, "no such process");
}

static void what_cannot_be_watched_has_its_reason(void **state)
{
    static const struct {
        const char *target, *reason;
    } refused[] = {
        {"99", "no such process"},
        {"14", "the process has ended"},
        {"cgroup:/nowhere", "no such control group"},
        {"unit:nowhere", "no such unit with a control group: is it running?"},
        {"cgroup:/empty", "no process in the control group"},
    };

    (void)state;
    tree_put("proc/14/stat", "14 (server) Z 1 14 14 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n");
    tree_put("v2/empty/cgroup.procs", "");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        why[0] = '\0';
        assert_int_equal(open_text(refused[i].target), -1);
        assert_string_equal(why, refused[i].reason);
    }
}

static void an_id_that_is_used_again_is_noticed(void **state)
{
    struct watch_sample s;

    (void)state;
    assert_int_equal(open_text("12"), 0);
    tree_put_process(12, 1, 999, 0, 0);
    assert_false(watch_take(&w, &s));
    assert_string_equal(w.end, "process 12 has ended; its ID is now that of server 12");
}

static void a_group_ends_with_its_last_process_or_when_all_are_new(void **state)
{
    struct watch_sample s;

    (void)state;
    assert_int_equal(open_text("cgroup:/server"), 0);
    assert_string_equal(w.name, "control group /server");
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_PROCESSES], 2);
    tree_remove("proc/12");
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_PROCESSES], 1);
    tree_remove("proc/13");
    assert_false(watch_take(&w, &s));
    assert_string_equal(w.end, "no process is left");
    tree_put_process(14, 1, 200, 0, 0);
    assert_int_equal(open_text("cgroup:/server"), -1);
    tree_put("v2/server/cgroup.procs", "14\n");
    assert_int_equal(open_text("unit:server"), 0);
    tree_remove("proc/14");
    tree_put_process(15, 1, 300, 0, 0);
    tree_put("v2/server/cgroup.procs", "15\n");
    assert_false(watch_take(&w, &s));
    assert_string_equal(w.end, "all processes have been replaced");
}

/* A listener on a free port of 127.0.0.1. */
static int listen_somewhere(struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *address;

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(listen(fd, 17), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &length), 0);
    return fd;
}

/* Sockets of other programs may have the same port at other addresses: a network namespace of its
 * own has none, if one may be made.  Returns whether loopback works. */
static bool leave_other_sockets(void)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    bool is_up;
    int fd;

    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return true;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    is_up = ioctl(fd, SIOCSIFFLAGS, &up) == 0;
    close(fd);
    return is_up;
}

/* The last test: it stays in its network namespace. */
static void sockets_of_the_port_are_counted(void **state)
{
    const struct watch_target target = {.kind = WATCH_PROCESS, .pid = getpid()};
    struct sockaddr_in address;
    struct watch_sample s;
    int client, listener, accepted;

    (void)state;
    if (!leave_other_sockets() || !has_sock_diag())
        skip();
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listener = listen_somewhere(&address);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(watch_open(&w, "/proc", &target, ntohs(address.sin_port), why), 0);
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_LISTEN_QUEUE], 1);
    assert_int_equal(s.at[WATCH_LISTEN_BACKLOG], 17);
    assert_int_equal(s.at[WATCH_ESTABLISHED], 1); /* of the client's own socket: the other end */
    accepted = accept(listener, NULL, NULL);
    assert_true(accepted >= 0);
    assert_int_equal(send(client, "1234", 4, 0), 4);
    assert_int_equal(watch_open(&w, "/proc", &target, ntohs(address.sin_port), why), 0);
    assert_true(watch_take(&w, &s));
    assert_int_equal(s.at[WATCH_LISTEN_QUEUE], 0);
    assert_true(s.at[WATCH_BUFFER_BYTES] > 4 && s.at[WATCH_BUFFER_BYTES] < 1000000);
    close(accepted);
    close(client);
    close(listener);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_host, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_processes_are_added_up),
        TEST(samples_follow_the_clock_on_demand),
        TEST(samples_stay_in_order_if_the_clock_is_set_back),
        TEST(memory_of_a_group_counts_if_nobody_else_is_in_it),
        TEST(the_end_of_the_server_is_noticed),
        TEST(what_cannot_be_watched_has_its_reason),
        TEST(an_id_that_is_used_again_is_noticed),
        TEST(a_group_ends_with_its_last_process_or_when_all_are_new),
        cmocka_unit_test(sockets_of_the_port_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
