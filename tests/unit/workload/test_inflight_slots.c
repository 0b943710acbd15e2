/* SPDX-License-Identifier: MIT
 * test_inflight_slots: slots grow, are found by connection and id, and are used again. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

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

            if (id == 2 &&
                c % 2 == 0) /* out of order: half of the lists are indexed from here on */
                assert_int_equal(inflight_find(&t, &lists[c], c, id), slot);
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
        cmocka_unit_test(growing_keeps_every_query_findable),
        cmocka_unit_test(a_query_of_another_connection_is_never_found),
        cmocka_unit_test(removed_slots_are_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
