/* SPDX-License-Identifier: MIT
 * test_inflight: the life cycle of a query, and the order of lists. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

static void a_query_is_queued_then_waiting_then_sent_then_answered(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_queued_then_waiting_then_sent_then_answered),
        cmocka_unit_test(queries_expire_in_the_order_they_were_sent),
        cmocka_unit_test(a_list_keeps_the_order_of_queueing),
        cmocka_unit_test(a_query_can_be_removed_in_any_state_and_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
