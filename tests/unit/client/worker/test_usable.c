/* SPDX-License-Identifier: MIT
 * test_usable: the lists of usable connections, after any sequence of additions and removals. */
#include "client/worker/usable.h"

#include "worker_steps.h"

static struct client_usable usable;

/* Four connections, all LIVE. */
static int start(void **state)
{
    (void)state;
    start_worker(0, 1, MOST_CONNS);
    usable = (struct client_usable){.transport = &transport};
    return 0;
}

static int stop(void **state)
{
    client_usable_free(&usable);
    return stop_worker(state);
}

static void a_list_stays_whole_when_any_leaves(void **state)
{
    const struct client_usable_list *list = &usable.lists[0];

    (void)state;
    assert_int_equal(client_usable_keep(&usable), 0);
    assert_int_equal(list->n, 0);
    for (uint32_t i = 0; i < MOST_CONNS; i++)
        client_usable_add(&usable, &conns[i]);
    client_usable_remove(&usable, &conns[1]);
    client_usable_remove(&usable, &conns[3]);
    assert_int_equal(list->n, 2);
    assert_int_equal(list->slots[0] + list->slots[1], 0 + 2);
    client_usable_remove(&usable, &conns[0]);
    assert_int_equal(list->n, 1);
    assert_int_equal(list->slots[0], 2);
    client_usable_add(&usable, &conns[1]);
    client_usable_remove(&usable, &conns[2]);
    assert_int_equal(list->n, 1);
    assert_int_equal(list->slots[0], 1);
    client_usable_remove(&usable, &conns[1]);
    assert_int_equal(list->n, 0);
}

static void a_list_made_later_has_the_connections_usable_then(void **state)
{
    (void)state;
    assert_false(client_usable_are_kept(&usable));
    client_usable_add(&usable, &conns[0]);
    end_conn(1);
    client_usable_remove(&usable, &conns[1]);
    assert_int_equal(client_usable_gather(&usable), 0);
    assert_true(client_usable_are_kept(&usable));
    assert_int_equal(usable.lists[0].n, 3);
    client_usable_remove(&usable, &conns[0]);
    client_usable_remove(&usable, &conns[3]);
    assert_int_equal(usable.lists[0].n, 1);
    assert_int_equal(usable.lists[0].slots[0], 2);
}

static void each_class_has_its_own(void **state)
{
    static const struct client_class classes[] = {{.n_before = 0, .n_connections = 3},
                                                  {.n_before = 3, .n_connections = 1}};

    (void)state;
    config.classes = classes;
    config.n_classes = 2;
    conns[3].class_index = 1;
    end_conn(1);
    assert_int_equal(client_usable_gather(&usable), 0);
    assert_int_equal(usable.lists[0].n, 2);
    assert_int_equal(usable.lists[0].slots[0] + usable.lists[0].slots[1], 0 + 2);
    assert_int_equal(usable.lists[1].n, 1);
    assert_int_equal(usable.lists[1].slots[0], 3);
    client_usable_remove(&usable, &conns[3]);
    assert_int_equal(usable.lists[1].n, 0);
    assert_int_equal(usable.lists[0].n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_stays_whole_when_any_leaves, start, stop),
        cmocka_unit_test_setup_teardown(a_list_made_later_has_the_connections_usable_then, start,
                                        stop),
        cmocka_unit_test_setup_teardown(each_class_has_its_own, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
