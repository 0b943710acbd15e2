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

static void room_is_a_power_of_two_of_which_three_quarters_suffice(void **state)
{
    const uint64_t each = sizeof(struct inflight_query);

    (void)state;
    assert_int_equal(inflight_slots_bytes(48, false), 64 * each);
    assert_int_equal(inflight_slots_bytes(49, false), 128 * each);
    assert_int_equal(inflight_slots_bytes(49, true), 128 * (each + sizeof(uint32_t)));
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

/* Turn after turn, as a saturated client does: queues queries connection by connection, then reads
 * the answers in the order of connections that became readable.  Returns how many of the queries
 * queued in the last turn are neighbours of the one queued before. */
static uint32_t neighbours_after(uint32_t n_turns, uint32_t n_lists)
{
    struct inflight_list *lists = calloc(n_lists, sizeof *lists);
    struct inflight t;
    uint32_t n_neighbours = 0, random = 1;

    assert_non_null(lists);
    start(&t, lists, n_lists);
    for (uint32_t turn = 0; turn < n_turns; turn++) {
        uint32_t before = NONE;

        n_neighbours = 0;
        for (uint32_t c = 0; c < n_lists; c++) {
            for (uint32_t n = (random = random * 1664525 + 1013904223) >> 28; n > 0; n--) {
                const uint32_t slot = send_one(&t, &lists[c], c, turn);

                n_neighbours += before != NONE && slot == before + 1;
                before = slot;
            }
        }
        for (uint32_t i = 0; i < n_lists; i++) {
            const uint32_t c = i * 7 % n_lists;

            while (lists[c].head != NONE)
                inflight_answered(&t, &lists[c], lists[c].head);
        }
    }
    inflight_free(&t);
    free(lists);
    return n_neighbours;
}

static void queries_queued_one_after_the_other_have_neighbouring_slots(void **state)
{
    enum { N_LISTS = 1000 };

    (void)state;
    assert_in_range(neighbours_after(100, N_LISTS), 7 * N_LISTS, 8 * N_LISTS);
}

/* Slots that become free are spread over the whole table. */
static void at_most_a_quarter_of_the_slots_is_free(void **state)
{
    enum { N_LISTS = 100, N_EACH = 30 };
    struct inflight_list lists[N_LISTS];
    struct inflight t;

    (void)state;
    start(&t, lists, N_LISTS);
    for (uint32_t i = 0; i < N_EACH * N_LISTS; i++)
        send_one(&t, &lists[i % N_LISTS], i % N_LISTS, i);
    for (uint32_t i = 0; i < 100000; i++) {
        struct inflight_list *list = &lists[i * 31 % N_LISTS];

        inflight_answered(&t, list, list->head);
        send_one(&t, list, i * 31 % N_LISTS, i);
    }
    assert_int_equal(t.n_used, N_EACH * N_LISTS);
    assert_in_range(t.n_touched, N_EACH * N_LISTS, N_EACH * N_LISTS * 4 / 3 + 1);
    inflight_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_a_power_of_two_of_which_three_quarters_suffice),
        cmocka_unit_test(growing_keeps_every_query_findable),
        cmocka_unit_test(a_query_of_another_connection_is_never_found),
        cmocka_unit_test(removed_slots_are_used_again),
        cmocka_unit_test(queries_queued_one_after_the_other_have_neighbouring_slots),
        cmocka_unit_test(at_most_a_quarter_of_the_slots_is_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
