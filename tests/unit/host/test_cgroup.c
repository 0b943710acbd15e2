/* SPDX-License-Identifier: MIT
 * test_cgroup: limits of both cgroup versions, read from a tree of files in a temporary directory.
 */
#include "host/cgroup.h"

#include "host/watch/cgroup_usage.h"

#include "watch/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024ull * 1024)

/* Writes mountinfo: `root` of each hierarchy is mounted in the test's directory. */
static void put_mounts(const char *root)
{
    char text[1024];

    snprintf(text, sizeof text,
             "31 23 0:28 / /sys rw shared:2 - tmpfs tmpfs rw\n"
             "32 31 0:29 %s %s/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
             "35 31 0:32 %s %s/v1 rw,relatime shared:9 - cgroup cgroup rw,memory\n"
             "41 31 0:38 %s %s/v2 rw - cgroup2 cgroup2 rw\n",
             root, directory, root, directory, root, directory);
    tree_put("proc/self/mountinfo", text);
}

static const char *proc(void)
{
    static char path[96];

    snprintf(path, sizeof path, "%s/proc", directory);
    return path;
}

static int make_top(void **state)
{
    if (make_directory(state) != 0)
        return -1;
    put_mounts("/");
    tree_put("cpu/tasks", "");
    tree_put("v1/tasks", "");
    tree_put("v2/tasks", "");
    return 0;
}

static void put_pair(const char *group, const char *limit_name, const char *limit,
                     const char *used_name, const char *used)
{
    char name[128];

    snprintf(name, sizeof name, "%s/%s", group, limit_name);
    tree_put(name, limit);
    snprintf(name, sizeof name, "%s/%s", group, used_name);
    tree_put(name, used);
}

static void put_v1(const char *group, const char *limit, const char *used)
{
    put_pair(group, "memory.limit_in_bytes", limit, "memory.usage_in_bytes", used);
}

static void put_v2(const char *group, const char *limit, const char *used)
{
    put_pair(group, "memory.max", limit, "memory.current", used);
}

/* The limit at this index, counted from the innermost group, has a path that ends in `end` and
 * leaves this many bytes. */
static void assert_limit(const struct cgroup_memory *m, unsigned i, const char *end, uint64_t left)
{
    struct cgroup_reading r = cgroup_limit_read(&m->limits[i]);
    const char *path = m->limits[i].path;

    assert_true(i < m->n);
    assert_true(strlen(path) >= strlen(end));
    assert_string_equal(path + strlen(path) - strlen(end), end);
    r.cache_bytes = cgroup_limit_cache_bytes(&m->limits[i]);
    assert_true(cgroup_reading_left(&r) == left);
}

static void own_group_and_its_ancestors_limit_v1(void **state)
{
    struct cgroup_memory m;

    (void)state;
    tree_put("proc/self/cgroup", "4:memory:/a/b\n3:cpuset:/a\n0::/\n");
    put_v1("v1", "9223372036854771712\n", "1\n");
    put_v1("v1/a", "104857600\n", "41943040\n");
    tree_put("v1/a/memory.stat",
             "inactive_file 7\ntotal_inactive_file 3000000\ntotal_active_file 2000000\n"
             "total_dirty 1000000\ntotal_writeback 500000\ntotal_mapped_file 500000\n");
    put_v1("v1/a/b", "67108864\n", "67108865\n");
    tree_put("v1/a/b/memory.kmem.limit_in_bytes", "33554432\n");
    tree_put("v1/a/b/memory.kmem.usage_in_bytes", "33554431\n");
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 3);
    assert_limit(&m, 0, "v1/a/b/memory.limit_in_bytes", 0);
    assert_limit(&m, 1, "v1/a/b/memory.kmem.limit_in_bytes", 1);
    assert_limit(&m, 2, "v1/a/memory.limit_in_bytes", 60 * MIB + 3000000);
    assert_false(m.limits[0].is_v2);
    cgroup_memory_close(&m);
}

static void max_and_high_limit_v2_and_max_is_no_limit(void **state)
{
    struct cgroup_memory m;

    (void)state;
    tree_put("proc/self/cgroup", "0::/slice/unit\n");
    tree_put("v2/slice/memory.max", "max\n");
    tree_put("v2/slice/memory.high", "629145600\n");
    tree_put("v2/slice/memory.current", "104857600\n");
    tree_put("v2/slice/memory.stat",
             "anon 1\nfile 50000000\ninactive_file 3000000\nactive_file 2000000\n"
             "file_dirty 1000000\nfile_writeback 500000\nfile_mapped 500000\n");
    tree_put("v2/slice/unit/memory.max", "536870912\n");
    tree_put("v2/slice/unit/memory.high", "max\n");
    tree_put("v2/slice/unit/memory.current", "0\n");
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 2);
    assert_limit(&m, 0, "v2/slice/unit/memory.max", 512 * MIB);
    assert_limit(&m, 1, "v2/slice/memory.high", 500 * MIB + 3000000);
    assert_true(m.limits[0].is_v2);
    cgroup_memory_close(&m);
}

/* A group may have dropped pages between the two readings. */
static void more_cache_than_use_leaves_the_limit(void **state)
{
    const struct cgroup_reading r = {.limit_bytes = 1000, .used_bytes = 400, .cache_bytes = 500};

    (void)state;
    assert_int_equal(cgroup_reading_left(&r), 1000);
}

static void limit_that_changes_is_seen(void **state)
{
    struct cgroup_memory m;
    struct cgroup_reading r;

    (void)state;
    tree_put("proc/self/cgroup", "0::/u\n");
    put_v2("v2/u", "1000\n", "400\n");
    cgroup_memory_open(&m, proc());
    put_v2("v2/u", "500\n", "450\n");
    r = cgroup_limit_read(&m.limits[0]);
    assert_int_equal(cgroup_reading_left(&r), 50);
    tree_put("v2/u/memory.max", "max\n");
    r = cgroup_limit_read(&m.limits[0]);
    assert_true(cgroup_reading_left(&r) == CGROUP_UNLIMITED);
    cgroup_memory_close(&m);
}

static void container_that_sees_a_subtree_finds_its_groups(void **state)
{
    struct cgroup_memory m;

    (void)state;
    put_mounts("/docker/0123");
    tree_put("proc/self/cgroup", "4:memory:/docker/0123/inner\n");
    put_v1("v1", "1000\n", "1\n");
    put_v1("v1/inner", "900\n", "1\n");
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 2);
    assert_limit(&m, 0, "v1/inner/memory.limit_in_bytes", 899);
    assert_limit(&m, 1, "v1/memory.limit_in_bytes", 999);
    cgroup_memory_close(&m);
    tree_put(
        "proc/self/cgroup",
        "4:memory:/docker/01234\n"); /* not below the mount: only the mounted group is visible */
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 1);
    assert_limit(&m, 0, "v1/memory.limit_in_bytes", 999);
    cgroup_memory_close(&m);
}

static void hierarchy_that_only_a_grandparent_has_mounted_is_found(void **state)
{
    struct cgroup_memory m;

    (void)state;
    tree_put("proc/self/cgroup", "0::/u\n");
    tree_put("proc/self/mountinfo", "31 23 0:28 / /sys rw - sysfs sysfs rw\n");
    tree_put("proc/self/stat", "9 (sh)\n x) S 5 1 1 0\n");
    tree_put("proc/5/mountinfo", "41 31 0:38 / /sys/fs/unreadable rw - cgroup2 cgroup2 rw\n");
    tree_put("proc/5/stat", "5 (ip) S 1 1 1 0\n");
    tree_put("proc/1/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put_v2("proc/1/root/sys/fs/cgroup/u", "1000\n", "1\n");
    put_v2("proc/1/root/sys/fs/cgroup", "900\n", "1\n");
    put_v2("proc/1/root/sys/fs", "1\n", "1\n");
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 2);
    assert_limit(&m, 0, "root/sys/fs/cgroup/u/memory.max", 999);
    assert_limit(&m, 1, "root/sys/fs/cgroup/memory.max", 899);
    cgroup_memory_close(&m);
}

static void what_cannot_be_read_limits_nothing(void **state)
{
    struct cgroup_memory m;

    (void)state;
    cgroup_memory_open(&m, proc()); /* no file "cgroup" */
    assert_int_equal(m.n, 0);
    assert_true(cgroup_cpu_quota_milli(proc()) == CGROUP_UNLIMITED);
    tree_put("proc/self/cgroup", "nonsense\n4:memory\n0::/none\n7:memory,hugetlb:/a\n");
    put_v1("v1/a", "many\n", "1\n");
    tree_put("v1/memory.limit_in_bytes", "1000\n"); /* without memory.usage_in_bytes */
    put_v2("v2", "", "1\n");
    cgroup_memory_open(&m, proc());
    assert_int_equal(m.n, 0);
    cgroup_memory_open(&m, "/nonexistent");
    assert_int_equal(m.n, 0);
}

static void long_path_is_shortened_to_its_end(void **state)
{
    const char *const path =
        "/proc/12345/root/sys/fs/cgroup/memory/0123456789012345678901234567890123456789/"
        "01234567890123456789/memory.limit_in_bytes";

    (void)state;
    assert_string_equal(cgroup_path_end("/a/memory.max"), "/a/memory.max");
    assert_string_equal(cgroup_path_end(path),
                        "root/sys/fs/cgroup/memory/0123456789012345678901234567890123456789/"
                        "01234567890123456789/memory.limit_in_bytes");
}

static void smallest_cpu_quota_of_all_ancestors_counts(void **state)
{
    (void)state;
    tree_put("proc/self/cgroup", "2:cpu,cpuacct:/a/b\n0::/u\n");
    tree_put("cpu/a/b/cpu.cfs_quota_us", "-1\n");
    tree_put("cpu/a/b/cpu.cfs_period_us", "100000\n");
    tree_put("v2/u/cpu.max", "max 100000\n");
    assert_true(cgroup_cpu_quota_milli(proc()) == CGROUP_UNLIMITED);
    tree_put("cpu/a/cpu.cfs_quota_us", "250000\n");
    tree_put("cpu/a/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cgroup_cpu_quota_milli(proc()), 2500);
    tree_put("v2/u/cpu.max", "30000 20000\n");
    assert_int_equal(cgroup_cpu_quota_milli(proc()), 1500);
    tree_put("v2/u/cpu.max", "80000 20000\n"); /* read after the others, and larger */
    assert_int_equal(cgroup_cpu_quota_milli(proc()), 2500);
}

static void put_pids(const char *group, const char *limit, const char *used)
{
    put_pair(group, "pids.max", limit, "pids.current", used);
}

static void tightest_limit_on_threads_is_that_with_the_fewest_left(void **state)
{
    struct cgroup_pids pids;

    (void)state;
    tree_put("proc/self/cgroup", "3:cpu,cpuacct,pids:/a/b\n0::/u\n");
    assert_true(cgroup_pids_read(proc()).limit == CGROUP_UNLIMITED);
    put_pids("v2/u", "max\n", "7\n");
    tree_put("v2/pids.max", "5\n"); /* without pids.current */
    assert_true(cgroup_pids_read(proc()).limit == CGROUP_UNLIMITED);
    put_pids("v2/u", "100\n", "40\n");
    pids = cgroup_pids_read(proc());
    assert_int_equal(pids.limit, 100);
    assert_int_equal(pids.used, 40);
    assert_string_equal(pids.path + strlen(directory), "/v2/u/pids.max");
    put_pids("v2", "1000\n", "950\n"); /* 50 left */
    assert_int_equal(cgroup_pids_read(proc()).limit, 1000);
    put_pids("v2/u", "30\n", "40\n"); /* set while 40 were running */
    assert_int_equal(cgroup_pids_read(proc()).limit, 30);
    put_pids("v2/u", "100\n", "40\n");
    tree_put("proc/self/mountinfo", "");
    assert_true(cgroup_pids_read(proc()).limit == CGROUP_UNLIMITED);
    assert_true(cgroup_pids_read("/nonexistent").limit == CGROUP_UNLIMITED);
}

static void v1_limits_threads_in_a_hierarchy_of_its_own(void **state)
{
    char text[256];

    (void)state;
    snprintf(text, sizeof text, "33 31 0:30 / %s/pids rw - cgroup cgroup rw,pids\n", directory);
    tree_put("proc/self/mountinfo", text);
    tree_put("proc/self/cgroup", "8:pids:/a/b\n4:memory:/a\n0::/\n");
    tree_put("pids/tasks", "");
    put_pids("pids/a/b", "max\n", "3\n");
    put_pids("pids/a", "20\n", "5\n");
    assert_int_equal(cgroup_pids_read(proc()).limit, 20);
    assert_int_equal(cgroup_pids_read(proc()).used, 5);
}

static void look_for_this_process(void *context, int pid)
{
    if (pid == getpid())
        *(bool *)context = true;
}

static void assert_has_this_process(void *context, const struct cgroup_group *group)
{
    bool has = false;

    assert_int_equal(cgroup_processes(group->path, look_for_this_process, &has), 0);
    if (!has)
        fail_msg("%s: this process is not in it, nor in a group below it", group->path);
    ++*(unsigned *)context;
}

static void groups_of_this_process_have_it_and_can_be_read(void **state)
{
    struct cgroup_memory m;
    unsigned n = 0;

    (void)state;
    cgroup_find_each("/proc", "memory", assert_has_this_process, &n);
    if (n == 0 && access("/sys/fs/cgroup/cgroup.procs", R_OK) != 0 &&
        access("/sys/fs/cgroup/memory/cgroup.procs", R_OK) != 0)
        skip();
    assert_true(n > 0);
    cgroup_memory_open(&m, "/proc");
    for (unsigned i = 0; i < m.n; i++)
        assert_true(cgroup_limit_read(&m.limits[i]).used_bytes > 0);
    cgroup_memory_close(&m);
    assert_true(cgroup_cpu_quota_milli("/proc") > 0);
}

#define IN_TOP(test) cmocka_unit_test_setup_teardown(test, make_top, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TOP(own_group_and_its_ancestors_limit_v1),
        IN_TOP(max_and_high_limit_v2_and_max_is_no_limit),
        cmocka_unit_test(more_cache_than_use_leaves_the_limit),
        IN_TOP(limit_that_changes_is_seen),
        IN_TOP(container_that_sees_a_subtree_finds_its_groups),
        IN_TOP(hierarchy_that_only_a_grandparent_has_mounted_is_found),
        IN_TOP(what_cannot_be_read_limits_nothing),
        cmocka_unit_test(long_path_is_shortened_to_its_end),
        IN_TOP(smallest_cpu_quota_of_all_ancestors_counts),
        IN_TOP(tightest_limit_on_threads_is_that_with_the_fewest_left),
        IN_TOP(v1_limits_threads_in_a_hierarchy_of_its_own),
        cmocka_unit_test(groups_of_this_process_have_it_and_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
