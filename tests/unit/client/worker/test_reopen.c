/* SPDX-License-Identifier: MIT
 * test_reopen: slots wait in line, in which some have been before. */
#include "client/worker/reopen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N_SLOTS = 3, MANY = 1 << 21 };

static int empty_line(void **state)
{
    static struct client_reopen line;

    if (client_reopen_init(&line, N_SLOTS) != 0)
        return -1;
    for (uint32_t slot = 0; slot < 2; slot++) {
        client_reopen_add(&line, slot);
        client_reopen_take(&line);
    }
    *state = &line;
    return 0;
}

static int free_line(void **state)
{
    client_reopen_free(*state);
    return 0;
}

static void the_first_to_come_is_the_first_to_go(void **state)
{
    struct client_reopen *line = *state;

    client_reopen_add(line, 2);
    client_reopen_add(line, 0);
    client_reopen_add(line, 1);
    assert_int_equal(line->n, 3);
    assert_int_equal(client_reopen_take(line), 2);
    assert_int_equal(client_reopen_take(line), 0);
    client_reopen_add(line, 2);
    assert_int_equal(client_reopen_take(line), 1);
    assert_int_equal(client_reopen_take(line), 2);
    assert_int_equal(line->n, 0);
}

static void removing_a_slot_keeps_the_order_of_the_others(void **state)
{
    struct client_reopen *line = *state;

    client_reopen_add(line, 2);
    client_reopen_add(line, 0);
    client_reopen_add(line, 1);
    client_reopen_remove(line, 0);
    assert_int_equal(line->n, 2);
    assert_int_equal(client_reopen_take(line), 2);
    assert_int_equal(client_reopen_take(line), 1);
}

static void removing_a_slot_that_is_not_in_line_has_no_effect(void **state)
{
    struct client_reopen *line = *state;

    client_reopen_remove(line, 0);
    assert_int_equal(line->n, 0);
    client_reopen_add(line, 2);
    client_reopen_remove(line, 0);
    assert_int_equal(line->n, 1);
    assert_int_equal(client_reopen_take(line), 2);
}

static void a_slot_that_was_removed_can_be_added_again(void **state)
{
    struct client_reopen *line = *state;

    client_reopen_add(line, 2);
    client_reopen_add(line, 0);
    client_reopen_remove(line, 2);
    client_reopen_remove(line, 2);
    client_reopen_add(line, 2);
    assert_int_equal(line->n, 2);
    assert_int_equal(client_reopen_take(line), 0);
    client_reopen_remove(line, 2);
    assert_int_equal(line->n, 0);
    client_reopen_add(line, 1);
    assert_int_equal(client_reopen_take(line), 1);
}

/* To look through the line for each of them would take hours. */
static void a_long_line_is_left_one_by_one(void **state)
{
    struct client_reopen line;

    (void)state;
    assert_int_equal(client_reopen_init(&line, MANY), 0);
    for (uint32_t slot = 0; slot < MANY; slot++)
        client_reopen_add(&line, slot);
    for (uint32_t slot = MANY - 1; slot > 0; slot--)
        client_reopen_remove(&line, slot);
    assert_int_equal(line.n, 1);
    assert_int_equal(client_reopen_take(&line), 0);
    client_reopen_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_to_come_is_the_first_to_go, empty_line,
                                        free_line),
        cmocka_unit_test_setup_teardown(removing_a_slot_keeps_the_order_of_the_others, empty_line,
                                        free_line),
        cmocka_unit_test_setup_teardown(removing_a_slot_that_is_not_in_line_has_no_effect,
                                        empty_line, free_line),
        cmocka_unit_test_setup_teardown(a_slot_that_was_removed_can_be_added_again, empty_line,
                                        free_line),
        cmocka_unit_test(a_long_line_is_left_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
