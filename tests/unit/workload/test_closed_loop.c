/* SPDX-License-Identifier: MIT
 * test_closed_loop: first in, first out. */
#include "workload/closed_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void entries_come_out_in_order_also_around_the_end_of_the_ring(void **state)
{
    struct closed_loop q;

    (void)state;
    assert_int_equal(closed_loop_init(&q, 3), 0);
    assert_true(closed_loop_next_ns(&q) == UINT64_MAX);
    closed_loop_push(&q, 10, 2);
    closed_loop_push(&q, 10, 0);
    for (uint64_t i = 0; i < 20; i++) {
        closed_loop_push(&q, 20 + i, (uint32_t)i);
        assert_int_equal(closed_loop_next_ns(&q), i < 2 ? 10 : 18 + i);
        assert_int_equal(closed_loop_pop(&q), i == 0 ? 2 : i == 1 ? 0 : i - 2);
    }
    assert_int_equal(q.count, 2);
    closed_loop_free(&q);
}

static void zeroed_queue_is_empty(void **state)
{
    struct closed_loop q = {0};

    (void)state;
    assert_true(closed_loop_next_ns(&q) == UINT64_MAX);
    closed_loop_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_out_in_order_also_around_the_end_of_the_ring),
        cmocka_unit_test(zeroed_queue_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
