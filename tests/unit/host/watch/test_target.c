/* SPDX-License-Identifier: MIT
 * test_target: what --watch takes and what not. */
#include "host/watch/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_three_kinds_are_told_apart(void **state)
{
    struct watch_target t;

    (void)state;
    assert_int_equal(watch_target_parse(&t, "4194304"), 0);
    assert_int_equal(t.kind, WATCH_PROCESS);
    assert_int_equal(t.pid, 4194304);
    assert_int_equal(watch_target_parse(&t, "unit:nsd"), 0);
    assert_int_equal(t.kind, WATCH_UNIT);
    assert_string_equal(t.name, "nsd");
    assert_int_equal(watch_target_parse(&t, "cgroup:/a/b"), 0);
    assert_int_equal(t.kind, WATCH_CGROUP);
    assert_string_equal(t.name, "/a/b");
}

static void anything_else_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",      "0",        "-1",      "1k",     "1.5",      "nsd",     "2147483648",
        "unit:", "unit:a/b", "cgroup:", "group:", "cgroup:a", "pid:100", "cgroup:/a/../../b"};
    struct watch_target t;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(watch_target_parse(&t, wrong[i]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_kinds_are_told_apart),
        cmocka_unit_test(anything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
