/* SPDX-License-Identifier: MIT
 * test_user_threads: the threads of a user, counted in a tree of files that looks like /proc. */
#include "host/user_threads.h"

#include "watch/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void threads_of_its_real_user_count(void **state)
{
    (void)state;
    tree_put("1/status", "Name:\tinit\nUid:\t0\t0\t0\t0\nThreads:\t1\n");
    tree_put("20/status", "Name:\ta\nUid:\t1000\t1000\t1000\t1000\nThreads:\t30\n");
    tree_put("21/status", "Name:\tb\nUid:\t1000\t0\t0\t0\nThreads:\t2\n"); /* set-user-ID */
    tree_put("22/status", "Name:\tc\nUid:\t0\t1000\t1000\t1000\nThreads:\t5\n");
    tree_put("23/status", "Name:\td\nUid:\t10001\t0\t0\t0\nThreads:\t7\n");
    tree_put("24/stat", ""); /* it has just ended */
    tree_put("self/status", "Name:\ta\nUid:\t1000\t1000\t1000\t1000\nThreads:\t30\n");
    assert_int_equal(user_threads_count(directory, 1000), 32);
    assert_int_equal(user_threads_count(directory, 0), 6);
    assert_int_equal(user_threads_count(directory, 5), 0);
    assert_int_equal(user_threads_count("/nonexistent", 1000), 0);
}

static void this_process_has_a_thread(void **state)
{
    (void)state;
    assert_true(user_threads_count("/proc", getuid()) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_of_its_real_user_count, make_directory,
                                        remove_tree),
        cmocka_unit_test(this_process_has_a_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
