/* SPDX-License-Identifier: MIT
 * test_group: units and paths in made-up hierarchies of both versions. */
#include "host/watch/group.h"

#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Memory is counted in version 1; the units of systemd are in both. */
static int make_host(void **state)
{
    char mounts[1024];

    if (make_directory(state) != 0)
        return -1;
    snprintf(mounts, sizeof mounts,
             "35 31 0:32 / %s/memory rw - cgroup cgroup rw,memory\n"
             "36 31 0:33 / %s/systemd rw - cgroup cgroup rw,name=systemd\n"
             "41 31 0:38 / %s/unified rw - cgroup2 cgroup2 rw\n",
             directory, directory, directory);
    tree_put("proc/self/mountinfo", mounts);
    tree_put("unified/cgroup.procs", "");
    tree_put("memory/cgroup.procs", "");
    tree_put("systemd/cgroup.procs", "");
    tree_put("systemd/system.slice/nsd.service/cgroup.procs", "12\n");
    tree_put("systemd/system.slice/nsd.service.d/cgroup.procs", "");
    tree_put("memory/system.slice/nsd.service/cgroup.procs", "12\n");
    tree_put("memory/system.slice/nsd.service/memory.usage_in_bytes", "1\n");
    tree_put("memory/apart/cgroup.procs", "13\n");
    tree_put("memory/apart/memory.usage_in_bytes", "1\n");
    tree_put("unified/new/cgroup.procs", "14\n");
    tree_put("unified/new/memory.current", "1\n");
    return 0;
}

static void check(const char *text, const char *path, const char *memory)
{
    struct watch_target target;
    struct watch_group group;

    assert_int_equal(watch_target_parse(&target, text), 0);
    assert_int_equal(watch_group_find(&group, tree_path("proc"), &target), 0);
    assert_string_equal(group.directory, tree_path(path));
    assert_int_equal(group.has_memory, memory != NULL);
    if (memory != NULL)
        assert_string_equal(group.memory.path, tree_path(memory));
}

static void a_unit_is_found_by_its_name(void **state)
{
    (void)state;
    check("unit:nsd", "memory/system.slice/nsd.service", "memory/system.slice/nsd.service");
    check("unit:nsd.service", "memory/system.slice/nsd.service", "memory/system.slice/nsd.service");
    tree_remove("memory/system.slice");
    check("unit:nsd", "systemd/system.slice/nsd.service", NULL);
}

static void a_path_is_below_a_mount_point_or_begins_with_it(void **state)
{
    char absolute[128];

    (void)state;
    check("cgroup:/apart", "memory/apart", "memory/apart");
    check("cgroup:/new", "unified/new", "unified/new");
    snprintf(absolute, sizeof absolute, "cgroup:%s", tree_path("memory/apart"));
    check(absolute, "memory/apart", "memory/apart");
    snprintf(absolute, sizeof absolute, "cgroup:%s", tree_path("systemd/system.slice/nsd.service"));
    check(absolute, "systemd/system.slice/nsd.service", "memory/system.slice/nsd.service");
}

static void what_is_not_there_is_not_found(void **state)
{
    static const char *const wrong[] = {"unit:ns", "unit:nsd.socket", "cgroup:/nothing"};
    struct watch_target target;
    struct watch_group group;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(watch_target_parse(&target, wrong[i]), 0);
        assert_int_equal(watch_group_find(&group, tree_path("proc"), &target), -1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_host, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_unit_is_found_by_its_name),
        TEST(a_path_is_below_a_mount_point_or_begins_with_it),
        TEST(what_is_not_there_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
