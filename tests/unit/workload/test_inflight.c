/* SPDX-License-Identifier: MIT
 * test_inflight: life cycle, order of expiry, answers owed, growth. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

static void a_query_goes_from_queued_over_waiting_and_sent_to_answered(void **state)
{
    struct inflight_list list;
    struct inflight t;
    bool recycled = false;
    uint32_t slot;

    (void)state;
    start(&t, &list, 1);
    assert_int_equal(inflight_oldest(&t), NONE);
    assert_int_equal(inflight_find(&t, &list, 5, 0), NONE);
    slot = inflight_queue(&t, &list, 5, 1000, 9);
    assert_counts(&t, 1, 0, 0);
    assert_int_equal(inflight_at(&t, slot)->state, INFLIGHT_QUEUED);
    assert_int_equal(inflight_at(&t, slot)->intended_ns, 1000);
    assert_int_equal(inflight_at(&t, slot)->sent_ns, 0);
    assert_int_equal(inflight_at(&t, slot)->connection, 5);
    assert_int_equal(inflight_at(&t, slot)->tag, 9);
    assert_int_equal(inflight_find(&t, &list, 5, 0), NONE);
    assert_int_equal(inflight_oldest(&t), NONE);
    assert_int_equal(inflight_assign_id(&t, &list, &recycled), 0);
    inflight_mark_sent(&t, &list, 2000);
    assert_counts(&t, 0, 1, 0);
    assert_int_equal(inflight_at(&t, slot)->state, INFLIGHT_WAITING);
    assert_int_equal(inflight_find(&t, &list, 5, inflight_at(&t, slot)->id), NONE);
    inflight_mark_written(&t, &list);
    assert_int_equal(list.waiting_head, NONE);
    assert_counts(&t, 0, 1, 0);
    assert_int_equal(inflight_at(&t, slot)->state, INFLIGHT_SENT);
    assert_int_equal(inflight_at(&t, slot)->sent_ns, 2000);
    assert_int_equal(list.queued_head, NONE);
    assert_int_equal(inflight_oldest(&t), slot);
    assert_int_equal(inflight_find(&t, &list, 5, inflight_at(&t, slot)->id), slot);
    inflight_answered(&t, &list, slot);
    assert_counts(&t, 0, 0, 0);
    assert_int_equal(inflight_oldest(&t), NONE);
    assert_int_equal(inflight_find(&t, &list, 5, 0), NONE);
    assert_int_equal(list.head, NONE);
    assert_int_equal(list.tail, NONE);
    inflight_free(&t);
}

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
    assert_in_range(t.n_touched, N_LISTS * N_EACH / 128, N_LISTS * N_EACH / 128 + 1);
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

static void queries_expire_in_the_order_they_were_sent(void **state)
{
    struct inflight_list lists[3];
    struct inflight t;
    uint32_t slots[300], n_expired = 0;

    (void)state;
    start(&t, lists, 3);
    for (uint32_t i = 0; i < 300; i++)
        slots[i] = send_one(&t, &lists[i * 7 % 3], i * 7 % 3, 1000 + i / 2);
    for (uint32_t i = 0; i < 300; i += 5)
        inflight_remove(&t, &lists[i * 7 % 3], slots[i]);
    for (uint32_t i = 0; i < 300; i++) {
        if (i % 5 == 0)
            continue;
        assert_int_equal(inflight_oldest(&t), slots[i]);
        inflight_expire(&t, &lists[i * 7 % 3], slots[i]);
        n_expired++;
        assert_counts(&t, 0, 240 - n_expired, n_expired);
    }
    assert_int_equal(inflight_oldest(&t), NONE);
    inflight_free(&t);
}

static void a_list_keeps_the_order_of_queueing(void **state)
{
    struct inflight_list list;
    struct inflight t;
    bool recycled = false;
    uint32_t slots[10], slot;

    (void)state;
    start(&t, &list, 1);
    for (uint32_t i = 0; i < 10; i++)
        slots[i] = inflight_queue(&t, &list, 0, i, 0);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(list.queued_head, slots[i]);
        assert_int_equal(inflight_assign_id(&t, &list, &recycled), 0);
        inflight_mark_sent(&t, &list, 100 + i);
    }
    inflight_mark_written(&t, &list);
    inflight_mark_written(&t, &list);
    inflight_mark_written(&t, &list);
    inflight_expire(&t, &list, slots[1]);
    assert_int_equal(list.waiting_head, slots[3]);
    slot = list.head;
    for (uint32_t i = 0; i < 10; i++) {
        if (i == 1)
            continue;
        assert_int_equal(slot, slots[i]);
        assert_int_equal(inflight_at(&t, slot)->state, i < 3   ? INFLIGHT_SENT
                                                       : i < 6 ? INFLIGHT_WAITING
                                                               : INFLIGHT_QUEUED);
        slot = inflight_at(&t, slot)->conn_next;
    }
    assert_int_equal(slot, NONE);
    assert_int_equal(list.tail, slots[9]);
    assert_counts(&t, 4, 5, 1);
    inflight_free(&t);
}

static void a_query_can_be_removed_in_any_state_and_place(void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 9; victim++) { /* 0-2 sent, 3-5 waiting, 6-8 queued */
        struct inflight_list list;
        struct inflight t;
        uint32_t slots[9], slot;
        bool recycled = false;

        start(&t, &list, 1);
        for (uint32_t i = 0; i < 9; i++)
            slots[i] = i < 3 ? send_one(&t, &list, 0, i) : inflight_queue(&t, &list, 0, i, 0);
        for (uint32_t i = 3; i < 6; i++) {
            assert_int_equal(inflight_assign_id(&t, &list, &recycled), 0);
            inflight_mark_sent(&t, &list, i);
        }
        inflight_remove(&t, &list, slots[victim]);
        assert_counts(&t, victim / 3 == 2 ? 2 : 3, victim / 3 == 2 ? 6 : 5, 0);
        assert_int_equal(list.n_reserved, victim < 6 ? 5 : 6);
        assert_int_equal(list.waiting_head, slots[victim == 3 ? 4 : 3]);
        assert_int_equal(list.queued_head, slots[victim == 6 ? 7 : 6]);
        assert_int_equal(inflight_oldest(&t), slots[victim == 0 ? 1 : 0]);
        slot = list.head;
        for (uint32_t i = 0; i < 9; i++) {
            if (i == victim)
                continue;
            assert_int_equal(slot, slots[i]);
            slot = inflight_at(&t, slot)->conn_next;
        }
        assert_int_equal(slot, NONE);
        for (uint16_t id = 0; id < 6; id++)
            assert_int_equal(inflight_find(&t, &list, 0, id),
                             id == victim || id >= 3 ? NONE : slots[id]);
        assert_int_equal(inflight_assign_id(&t, &list, &recycled), 0);
        assert_int_equal(inflight_at(&t, list.queued_head)->id, 6);
        inflight_free(&t);
    }
}

static void growing_keeps_every_query_findable(void **state)
{
    enum { N_LISTS = 1000, N_EACH = 20 };
    struct inflight_list *lists = calloc(N_LISTS, sizeof *lists);
    struct inflight t;
    uint64_t now_ns = 0;

    (void)state;
    assert_non_null(lists);
    start(&t, lists, N_LISTS);
    for (uint16_t id = 0; id < N_EACH; id++) {
        for (uint32_t c = 0; c < N_LISTS; c++) {
            const uint32_t slot = send_one(&t, &lists[c], c, now_ns++);

            if ((c + id) % 3 == 0)
                inflight_expire(&t, &lists[c], slot);
        }
    }
    assert_int_equal(t.n_sent + t.n_expired, N_LISTS * N_EACH);
    assert_true(t.n_slots >= t.n_sent);
    for (uint32_t c = 0; c < N_LISTS; c++) {
        for (uint16_t id = 0; id < N_EACH; id++) {
            const uint32_t slot = inflight_find(&t, &lists[c], c, id);

            assert_int_equal(inflight_take_late(&t, &lists[c], c, id), (c + id) % 3 == 0);
            assert_int_equal(slot == NONE, (c + id) % 3 == 0);
            if (slot == NONE)
                continue;
            assert_int_equal(inflight_at(&t, slot)->connection, c);
            assert_int_equal(inflight_at(&t, slot)->sent_ns, (uint64_t)id * N_LISTS + c);
        }
        assert_int_equal(inflight_find(&t, &lists[c], c, N_EACH), NONE);
    }
    inflight_free(&t);
    free(lists);
}

/* 30 connections have a query with id 1, the ones that look it up have not; many share a hash
 * bucket. */
static void a_query_of_another_connection_is_never_found(void **state)
{
    struct inflight_list lists[30], asking;
    struct inflight t;

    (void)state;
    start(&t, lists, 30);
    for (uint32_t c = 0; c < 30; c++) {
        inflight_remove(&t, &lists[c], send_one(&t, &lists[c], c, c));
        assert_int_equal(inflight_at(&t, send_one(&t, &lists[c], c, c))->id, 1);
    }
    for (uint32_t c = 1000; c < 3000; c++) {
        inflight_list_init(&asking);
        send_one(&t, &asking, c, c);
        assert_int_equal(inflight_find(&t, &asking, c, 1), NONE);
        inflight_remove(&t, &asking, asking.head);
    }
    inflight_free(&t);
}

static void removed_slots_are_used_again(void **state)
{
    struct inflight_list list;
    struct inflight t;
    uint32_t n_slots;

    (void)state;
    assert_int_equal(inflight_init(&t, 1000, true), 0);
    inflight_list_init(&list);
    n_slots = t.n_slots;
    assert_true(n_slots >= 1000);
    for (uint32_t i = 0; i < 100000; i++) {
        send_one(&t, &list, 0, i);
        if (i >= 999)
            inflight_remove(&t, &list, list.head);
    }
    assert_int_equal(t.n_sent, 999);
    assert_int_equal(t.n_slots, n_slots);
    inflight_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_goes_from_queued_over_waiting_and_sent_to_answered),
        cmocka_unit_test(a_late_answer_is_not_credited_to_a_newer_query),
        cmocka_unit_test(without_ids_the_answers_that_are_owed_come_first),
        cmocka_unit_test(without_ids_expired_queries_take_no_room),
        cmocka_unit_test(expired_ids_take_a_slot_for_128_of_them),
        cmocka_unit_test(a_query_that_expires_while_it_waits_is_owed_nothing),
        cmocka_unit_test(queries_expire_in_the_order_they_were_sent),
        cmocka_unit_test(a_list_keeps_the_order_of_queueing),
        cmocka_unit_test(a_query_can_be_removed_in_any_state_and_place),
        cmocka_unit_test(growing_keeps_every_query_findable),
        cmocka_unit_test(a_query_of_another_connection_is_never_found),
        cmocka_unit_test(removed_slots_are_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
