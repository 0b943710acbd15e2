/* SPDX-License-Identifier: MIT
 * test_cgroup_usage: groups of both versions in a temporary directory. */
#include "host/watch/cgroup_usage.h"

#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct cgroup_usage read_group(const char *name, bool is_v2)
{
    struct cgroup_group group = {.is_v2 = is_v2};
    struct cgroup_usage usage;

    snprintf(group.path, sizeof group.path, "%s", tree_path(name));
    cgroup_usage_read(&usage, &group);
    return usage;
}

static void version_2_has_kernel_and_sockets_apart(void **state)
{
    struct cgroup_usage u;

    (void)state;
    tree_put("v2/memory.current", "1000000\n");
    tree_put("v2/memory.stat", "anon 300000\nfile 5\nkernel 200000\nslab 150000\nsock 7000\n"
                               "anon_thp 9\nshmem 1\n");
    u = read_group("v2", true);
    assert_int_equal(u.bytes, 1000000);
    assert_int_equal(u.user_bytes, 300000);
    assert_int_equal(u.socket_bytes, 7000);
    assert_int_equal(u.kernel_bytes, 207000);
}

static void an_older_kernel_has_only_the_parts(void **state)
{
    (void)state;
    tree_put("v2/memory.current", "1000000\n");
    tree_put("v2/memory.stat",
             "anon 300000\nkernel_stack 1000\npagetables 20\npercpu 3\nsock 7000\nslab 400000\n");
    assert_int_equal(read_group("v2", true).kernel_bytes, 408023);
}

static void version_1_charges_sockets_apart(void **state)
{
    struct cgroup_usage u;

    (void)state;
    tree_put("v1/memory.usage_in_bytes", "1000000\n");
    tree_put("v1/memory.kmem.usage_in_bytes", "200000\n");
    tree_put("v1/memory.kmem.tcp.usage_in_bytes", "8192\n");
    tree_put("v1/memory.stat", "cache 1\nrss 5\ntotal_cache 1\ntotal_rss 300000\n");
    u = read_group("v1", false);
    assert_int_equal(u.bytes, 1008192);
    assert_int_equal(u.user_bytes, 300000);
    assert_int_equal(u.kernel_bytes, 208192);
    assert_int_equal(u.socket_bytes, 8192);
}

/* Without one of them, the other is no sum. */
static void what_is_missing_is_not_added(void **state)
{
    struct cgroup_usage u;

    (void)state;
    tree_put("v2/memory.stat", "kernel 200000\n");
    assert_int_equal(read_group("v2", true).kernel_bytes, 200000);
    tree_put("v2/memory.stat", "sock 7000\n");
    assert_true(read_group("v2", true).kernel_bytes == CGROUP_USAGE_UNKNOWN);
    tree_put("sockets/memory.kmem.tcp.usage_in_bytes", "8192\n");
    u = read_group("sockets", false);
    assert_int_equal(u.socket_bytes, 8192);
    assert_true(u.bytes == CGROUP_USAGE_UNKNOWN && u.kernel_bytes == CGROUP_USAGE_UNKNOWN);
    tree_put("others/memory.usage_in_bytes", "1000000\n");
    tree_put("others/memory.kmem.usage_in_bytes", "200000\n");
    u = read_group("others", false);
    assert_true(u.bytes == 1000000 && u.kernel_bytes == 200000);
}

static void missing_files_are_unknown(void **state)
{
    const struct cgroup_usage u = read_group("none", true), v = read_group("none", false);

    (void)state;
    assert_true(u.bytes == CGROUP_USAGE_UNKNOWN && u.kernel_bytes == CGROUP_USAGE_UNKNOWN);
    assert_true(v.bytes == CGROUP_USAGE_UNKNOWN && v.kernel_bytes == CGROUP_USAGE_UNKNOWN);
}

static void count(void *context, int pid)
{
    *(int *)context += pid;
}

static void processes_of_groups_below_count(void **state)
{
    int sum = 0;

    (void)state;
    tree_put("g/cgroup.procs", "1\n20\n");
    tree_put("g/a/cgroup.procs", "300\n");
    tree_put("g/a/b/cgroup.procs", "4000\n");
    tree_put("other/cgroup.procs", "50000\n");
    assert_int_equal(cgroup_processes(tree_path("g"), count, &sum), 0);
    assert_int_equal(sum, 4321);
    assert_int_equal(cgroup_processes(tree_path("none"), count, &sum), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(version_2_has_kernel_and_sockets_apart), TEST(an_older_kernel_has_only_the_parts),
        TEST(version_1_charges_sockets_apart),        TEST(what_is_missing_is_not_added),
        TEST(version_1_charges_sockets_apart),        TEST(missing_files_are_unknown),
        TEST(processes_of_groups_below_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
