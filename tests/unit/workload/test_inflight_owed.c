/* SPDX-License-Identifier: MIT
 * test_inflight_owed: answers that expired queries are still owed. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

static void a_late_answer_is_not_credited_to_a_newer_query(void **state)
{
    struct inflight_list list;
    struct inflight t;
    uint32_t newer;

    (void)state;
    start(&t, &list, 1);
    inflight_expire(&t, &list, send_one(&t, &list, 0, 10));
    assert_counts(&t, 0, 0, 1);
    assert_int_equal(inflight_oldest(&t), NONE);
    newer = send_one(&t, &list, 0, 20);
    assert_int_equal(inflight_at(&t, newer)->id, 1);
    assert_int_equal(inflight_find(&t, &list, 0, 0), NONE);
    assert_false(inflight_take_late(&t, &list, 0, 1));
    assert_false(inflight_take_late(&t, &list, 1, 0));
    assert_true(inflight_take_late(&t, &list, 0, 0));
    assert_false(inflight_take_late(&t, &list, 0, 0));
    assert_counts(&t, 0, 1, 0);
    assert_true(inflight_id_was_used(&list, 0));
    assert_int_equal(inflight_find(&t, &list, 0, 1), newer);
    inflight_free(&t);
}

/* Like ping and echo: answers arrive in the order of the queries. */
static void without_ids_the_answers_that_are_owed_come_first(void **state)
{
    struct inflight_list list;
    struct inflight t;
    uint32_t third;

    (void)state;
    assert_int_equal(inflight_init(&t, 1, false), 0);
    inflight_list_init(&list);
    inflight_expire(&t, &list, send_one(&t, &list, 0, 10));
    inflight_expire(&t, &list, send_one(&t, &list, 0, 20));
    third = send_one(&t, &list, 0, 30);
    assert_counts(&t, 0, 1, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(inflight_find(&t, &list, 0, 0), NONE);
        assert_true(inflight_take_late(&t, &list, 0, 0));
    }
    assert_int_equal(inflight_find(&t, &list, 0, 0), third);
    inflight_answered(&t, &list, third);
    assert_false(inflight_take_late(&t, &list, 0, 0));
    assert_int_equal(inflight_find(&t, &list, 0, 0), NONE);
    assert_counts(&t, 0, 0, 0);
    inflight_free(&t);
}

/* A million of them use no memory and no ids, and no answer is credited to another query. */
static void without_ids_expired_queries_take_no_room(void **state)
{
    enum { N = 1000000 };
    struct inflight_list list;
    struct inflight t;
    uint32_t n_slots;

    (void)state;
    assert_int_equal(inflight_init(&t, 1, false), 0);
    inflight_list_init(&list);
    n_slots = t.n_slots;
    for (uint32_t i = 0; i < N; i++)
        inflight_expire(&t, &list, send_one(&t, &list, 0, i));
    assert_int_equal(t.n_slots, n_slots);
    assert_counts(&t, 0, 0, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(inflight_find(&t, &list, 0, 0), NONE);
        assert_true(inflight_take_late(&t, &list, 0, 0));
    }
    assert_false(inflight_take_late(&t, &list, 0, 0));
    inflight_free(&t);
}

static void expired_ids_take_a_slot_for_128_of_them(void **state)
{
    enum { N_LISTS = 100, N_EACH = 12800 };
    struct inflight_list lists[N_LISTS];
    struct inflight t;

    (void)state;
    start(&t, lists, N_LISTS);
    for (uint32_t i = 0; i < N_EACH; i++)
        for (uint32_t c = 0; c < N_LISTS; c++)
            inflight_expire(&t, &lists[c], send_one(&t, &lists[c], c, i));
    assert_counts(&t, 0, 0, N_LISTS * N_EACH);
    assert_in_range(t.n_used, N_LISTS * N_EACH / 128, N_LISTS * N_EACH / 128 + 1);
    assert_in_range(inflight_slots_most_used(t.n_touched), t.n_used - 1, t.n_used + 1);
    for (uint32_t c = 0; c < N_LISTS / 2; c++)
        for (uint32_t i = 0; i < N_EACH; i++)
            assert_true(inflight_take_late(&t, &lists[c], c, (uint16_t)(i * 7 % N_EACH)));
    assert_counts(&t, 0, 0, N_LISTS / 2 * N_EACH);
    for (uint32_t c = 0; c < N_LISTS; c++) {
        inflight_forget(&t, &lists[c]);
        assert_false(inflight_take_late(&t, &lists[c], c, 0));
    }
    assert_counts(&t, 0, 0, 0);
    inflight_free(&t);
}

/* The socket was full and nothing was written: no answer will come, and the id is free. */
static void a_query_that_expires_while_it_waits_is_owed_nothing(void **state)
{
    struct inflight_list list;
    struct inflight t;
    bool recycled;
    uint32_t slots[4];

    (void)state;
    start(&t, &list, 1);
    slots[0] = send_one(&t, &list, 0, 1);
    for (uint32_t i = 1; i < 4; i++) {
        slots[i] = inflight_queue(&t, &list, 0, i, 0);
        assert_int_equal(inflight_assign_id(&t, &list, &recycled), 0);
        inflight_mark_sent(&t, &list, i);
    }
    assert_counts(&t, 0, 4, 0);
    assert_int_equal(list.waiting_head, slots[1]);
    inflight_expire(&t, &list, slots[0]);
    inflight_expire(&t, &list, slots[1]);
    assert_counts(&t, 0, 2, 1);
    assert_int_equal(list.waiting_head, slots[2]);
    assert_int_equal(list.n_reserved, 3);
    inflight_mark_written(&t, &list);
    assert_int_equal(list.waiting_head, slots[3]);
    assert_false(inflight_take_late(&t, &list, 0, 1));
    assert_true(inflight_take_late(&t, &list, 0, 0));
    assert_int_equal(inflight_find(&t, &list, 0, 2), slots[2]);
    assert_int_equal(inflight_find(&t, &list, 0, 3), NONE);
    inflight_expire(&t, &list, slots[3]);
    assert_int_equal(list.waiting_head, NONE);
    assert_counts(&t, 0, 1, 0);
    inflight_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_answer_is_not_credited_to_a_newer_query),
        cmocka_unit_test(without_ids_the_answers_that_are_owed_come_first),
        cmocka_unit_test(without_ids_expired_queries_take_no_room),
        cmocka_unit_test(expired_ids_take_a_slot_for_128_of_them),
        cmocka_unit_test(a_query_that_expires_while_it_waits_is_owed_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
