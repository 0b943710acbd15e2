/* SPDX-License-Identifier: MIT
 * test_process_list: processes of a made-up host that start and end. */
#include "host/watch/process_list.h"

#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define TICK_US (1000000 / (uint64_t)sysconf(_SC_CLK_TCK))

/* Process 10 is a master with 2 workers, one of which has a child; process 20 is unrelated. */
static struct process_list *list_of_server(void)
{
    static struct process_list l;
    struct process master;

    tree_put_process(10, 1, 100, 5, 1);
    tree_put_process(12, 10, 101, 50, 10);
    tree_put_process(11, 10, 101, 60, 20);
    tree_put_process(9, 11, 102, 1, 1); /* its ID is below that of its parent */
    tree_put_process(20, 1, 103, 1000, 1000);
    tree_put("proc/stat", "cpu 1 2 3\n");
    l = (struct process_list){.n = 0};
    assert_int_equal(process_read(&master, tree_path("proc"), 10), 0);
    process_list_add(&l, &master);
    assert_int_equal(process_list_add_children(&l, tree_path("proc")), 0);
    return &l;
}

static void children_are_taken_together(void **state)
{
    struct process_list *l = list_of_server();

    (void)state;
    assert_int_equal(l->n, 4);
    assert_true(process_list_has(l, 9) && process_list_has(l, 12));
    assert_false(process_list_has(l, 20));
    assert_int_equal(l->user_us, 116 * TICK_US);
    assert_int_equal(l->system_us, 32 * TICK_US);
    assert_int_equal(process_list_add_children(l, tree_path("proc")), 0);
    assert_int_equal(l->n, 4); /* once */
}

static void a_child_that_was_waited_for_counts_once(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us;

    (void)state;
    /* it used 7 more ticks before it ended, and its parent waited for it: fields 16 and 17 */
    tree_remove("proc/12");
    tree_put("proc/10/stat",
             "10 (master) S 1 1 1 0 -1 4194560 1 2 3 4 5 1 57 10 20 0 1 0 100 5 6 7\n");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->n, 3);
    assert_int_equal(l->user_us - before_us, 7 * TICK_US);
}

static void the_time_of_a_child_nobody_waited_for_stays(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us;

    (void)state;
    tree_remove("proc/12");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us, before_us);
    tree_put_process(11, 10, 101, 63, 20);
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us - before_us, 3 * TICK_US);
}

static void the_time_of_others_counts_when_one_ends(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us;

    (void)state;
    tree_remove("proc/12");
    tree_put_process(11, 10, 101, 63, 20);
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us - before_us, 3 * TICK_US);
}

static void a_child_that_was_waited_for_later_counts_once(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us, system_before_us = l->system_us;

    (void)state;
    tree_put("proc/12/stat",
             "12 (worker) Z 10 1 1 0 -1 4194560 1 2 3 4 57 10 0 0 20 0 1 0 101 5 6 7\n");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->n, 3);
    assert_int_equal(l->user_us, before_us);
    tree_remove("proc/12");
    tree_put("proc/10/stat",
             "10 (master) S 1 1 1 0 -1 4194560 1 2 3 4 5 1 57 10 20 0 1 0 100 5 6 7\n");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us - before_us, 7 * TICK_US);
    assert_int_equal(l->system_us, system_before_us);
}

/* It started and ended between two readings. */
static void a_child_that_was_never_seen_counts(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us;
    struct process orphan;

    (void)state;
    assert_int_equal(process_read(&orphan, tree_path("proc"), 20), 0);
    process_list_add(l, &orphan);
    tree_remove("proc/20"); /* its time moves to no process of the list */
    tree_remove("proc/12");
    tree_put("proc/10/stat",
             "10 (master) S 1 1 1 0 -1 4194560 1 2 3 4 5 1 50 10 20 0 1 0 100 5 6 7\n");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us - before_us, 1000 * TICK_US);
    tree_put("proc/10/stat",
             "10 (master) S 1 1 1 0 -1 4194560 1 2 3 4 5 1 59 10 20 0 1 0 100 5 6 7\n");
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->user_us - before_us, 1009 * TICK_US);
}

static void another_process_with_the_same_id_is_none_of_them(void **state)
{
    struct process_list *l = list_of_server();
    const uint64_t before_us = l->user_us;

    (void)state;
    tree_put_process(12, 1, 500, 9000, 9000);
    process_list_read(l, tree_path("proc"));
    assert_int_equal(l->n, 3);
    assert_false(process_list_has(l, 12));
    assert_int_equal(l->user_us, before_us);
}

static void a_file_that_cannot_be_opened_is_no_end(void **state)
{
    struct process_list *l = list_of_server();

    (void)state;
    tree_remove("proc/12/stat");
    assert_int_equal(symlink("stat", tree_path("proc/12/stat")), 0); /* ELOOP */
    process_list_read(l, tree_path("proc"));
    assert_true(process_list_has(l, 12));
}

static void what_does_not_fit_is_not_lost_silently(void **state)
{
    struct process_list *l = list_of_server();

    (void)state;
    for (int pid = 100; l->n < PROCESS_LIST_MOST; pid++)
        process_list_add(l, &(struct process){.pid = pid});
    process_list_add(l, &(struct process){.pid = 10});
    assert_false(l->is_overfull);
    process_list_add(l, &(struct process){.pid = 20});
    assert_true(l->is_overfull);
    assert_int_equal(l->n, PROCESS_LIST_MOST);
    assert_false(process_list_has(l, 20));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(children_are_taken_together),
        TEST(a_child_that_was_waited_for_counts_once),
        TEST(the_time_of_a_child_nobody_waited_for_stays),
        TEST(the_time_of_others_counts_when_one_ends),
        TEST(a_child_that_was_waited_for_later_counts_once),
        TEST(a_child_that_was_never_seen_counts),
        TEST(another_process_with_the_same_id_is_none_of_them),
        TEST(a_file_that_cannot_be_opened_is_no_end),
        TEST(what_does_not_fit_is_not_lost_silently),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
