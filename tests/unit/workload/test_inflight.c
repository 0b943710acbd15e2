/* SPDX-License-Identifier: MIT
 * test_inflight: life cycle, expiry order, ids and their reuse, answers that are owed, growth; a
 * model of random steps. */
#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE INFLIGHT_NONE

enum { N_CONNECTIONS = 8, N_STEPS = 100000, N_MODEL = 4096 };

static void start(struct inflight *t, struct inflight_list *lists, size_t n_lists)
{
    assert_int_equal(inflight_init(t, 1, true), 0);
    for (size_t i = 0; i < n_lists; i++)
        inflight_list_init(&lists[i]);
}

/* Queues a query, sends and writes it at once.  Returns its slot. */
static uint32_t send_one(struct inflight *t, struct inflight_list *list, uint32_t connection,
                         uint64_t now_ns)
{
    bool recycled = false;
    uint32_t slot = inflight_queue(t, list, connection, now_ns, 0);

    assert_int_not_equal(slot, NONE);
    assert_int_equal(list->queued_head, slot);
    assert_int_equal(inflight_assign_id(t, list, &recycled), 0);
    assert_false(recycled);
    inflight_mark_sent(t, list, now_ns);
    assert_int_equal(list->waiting_head, slot);
    inflight_mark_written(t, list);
    return slot;
}

static void assert_counts(const struct inflight *t, uint32_t queued, uint32_t sent,
                          uint64_t expired)
{
    assert_int_equal(t->n_queued, queued);
    assert_int_equal(t->n_sent, sent);
    assert_int_equal(t->n_expired, expired);
}

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

/* As with ping and echo: answers come in the order of the queries. */
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

/* A million of them: no memory, no id that runs out, no answer that goes to another query. */
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

/* The socket is full: nothing of it has left, so nothing will come, and its id is free. */
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

/* Sends 65,536 queries on the connection: every id is in use. */
static void use_all_ids(struct inflight *t, struct inflight_list *list, uint32_t *slots)
{
    for (uint32_t i = 0; i < INFLIGHT_IDS; i++) {
        assert_int_equal(inflight_id_was_used(list, (uint16_t)i), false);
        slots[i] = send_one(t, list, 0, i);
        assert_int_equal(inflight_at(t, slots[i])->id, i);
        assert_true(inflight_id_was_used(list, (uint16_t)i));
    }
    assert_int_equal(list->n_reserved, INFLIGHT_IDS);
}

static void a_query_waits_while_all_ids_are_in_flight(void **state)
{
    uint32_t *slots = calloc(INFLIGHT_IDS, sizeof *slots), waiting;
    struct inflight_list lists[2];
    struct inflight t;
    bool recycled = false;

    (void)state;
    assert_non_null(slots);
    start(&t, lists, 2);
    use_all_ids(&t, &lists[0], slots);
    waiting = inflight_queue(&t, &lists[0], 0, 4242, 0);
    for (int again = 0; again < 3; again++)
        assert_int_equal(inflight_assign_id(&t, &lists[0], &recycled), -1);
    assert_false(recycled);
    assert_int_equal(lists[0].queued_head, waiting);
    assert_int_equal(inflight_at(&t, waiting)->state, INFLIGHT_QUEUED);
    assert_int_equal(inflight_at(&t, waiting)->intended_ns, 4242);
    assert_int_equal(inflight_at(&t, send_one(&t, &lists[1], 1, INFLIGHT_IDS))->id, 0);
    inflight_remove(&t, &lists[0], slots[777]);
    assert_int_equal(inflight_assign_id(&t, &lists[0], &recycled), 0);
    assert_false(recycled);
    inflight_mark_sent(&t, &lists[0], INFLIGHT_IDS);
    inflight_mark_written(&t, &lists[0]);
    assert_int_equal(inflight_at(&t, waiting)->id, 777);
    assert_int_equal(inflight_find(&t, &lists[0], 0, 777), waiting);
    inflight_free(&t);
    free(slots);
}

/* Tries to send one more.  Returns its id, or -1 when there is none; *recycled as of the table. */
static int32_t try_one(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    const uint32_t slot = inflight_queue(t, list, 0, 1, 0);

    if (inflight_assign_id(t, list, recycled) != 0) {
        inflight_remove(t, list, slot);
        return -1;
    }
    inflight_mark_sent(t, list, 2 * INFLIGHT_IDS);
    inflight_mark_written(t, list);
    return inflight_at(t, slot)->id;
}

/* A server that has stopped may still answer all: its ids are not used again, whatever waits. */
static void no_id_is_given_up_before_a_later_query_is_answered(void **state)
{
    uint32_t *slots = calloc(INFLIGHT_IDS, sizeof *slots);
    struct inflight_list list;
    struct inflight t;
    bool recycled;

    (void)state;
    assert_non_null(slots);
    start(&t, &list, 1);
    use_all_ids(&t, &list, slots);
    for (uint32_t i = 0; i < INFLIGHT_IDS; i++)
        inflight_expire(&t, &list, slots[i]);
    assert_int_equal(try_one(&t, &list, &recycled), -1);
    for (uint32_t i = 0; i < INFLIGHT_IDS; i++) { /* it goes on where it stopped */
        assert_true(inflight_take_late(&t, &list, 0, (uint16_t)i));
        assert_int_equal(try_one(&t, &list, &recycled), i);
        assert_false(recycled);
        assert_int_equal(try_one(&t, &list, &recycled), -1);
    }
    assert_counts(&t, 0, INFLIGHT_IDS, 0);
    inflight_free(&t);
    free(slots);
}

static void an_id_is_recycled_only_when_all_are_used(void **state)
{
    static const uint16_t expired[] = {9, 100, 400, 65535};
    uint32_t *slots = calloc(INFLIGHT_IDS, sizeof *slots);
    struct inflight_list list;
    struct inflight t;
    bool recycled;

    (void)state;
    assert_non_null(slots);
    start(&t, &list, 1);
    use_all_ids(&t, &list, slots);
    for (size_t i = 0; i < 4; i++)
        inflight_expire(&t, &list, slots[expired[i]]);
    inflight_answered(&t, &list, slots[500]);
    assert_int_equal(try_one(&t, &list, &recycled), 500);
    assert_false(recycled);
    assert_int_equal(try_one(&t, &list, &recycled), -1); /* 65535 was used after 500 */
    inflight_answered(&t, &list, inflight_find(&t, &list, 0, 500));
    assert_int_equal(try_one(&t, &list, &recycled), 500);
    assert_false(recycled);
    for (size_t i = 0; i < 4; i++) { /* from 501 on, around the end */
        const uint16_t id = expired[(i + 3) % 4];

        assert_int_equal(try_one(&t, &list, &recycled), id);
        assert_true(recycled);
        assert_int_equal(list.n_reserved, INFLIGHT_IDS);
        assert_int_equal(t.n_expired, 3 - i);
        assert_false(inflight_take_late(&t, &list, 0, id));
    }
    assert_int_equal(try_one(&t, &list, &recycled), -1);
    inflight_free(&t);
    free(slots);
}

/* Answers come in no order: whichever id becomes free is the next. */
static void a_freed_id_is_found_among_65535_used_ones(void **state)
{
    uint32_t *slots = calloc(INFLIGHT_IDS, sizeof *slots);
    struct inflight_list list;
    struct inflight t;
    bool recycled;

    (void)state;
    assert_non_null(slots);
    start(&t, &list, 1);
    use_all_ids(&t, &list, slots);
    for (uint32_t i = 0; i < 200000; i++) {
        const uint16_t id = (uint16_t)(i * 40503u);
        const uint32_t slot = inflight_find(&t, &list, 0, id);

        assert_int_not_equal(slot, NONE);
        inflight_answered(&t, &list, slot);
        assert_int_equal(try_one(&t, &list, &recycled), id);
        assert_int_equal(try_one(&t, &list, &recycled), -1);
    }
    inflight_free(&t);
    free(slots);
}

static void an_id_counts_as_used_from_its_first_use_on(void **state)
{
    struct inflight_list list;
    struct inflight t;

    (void)state;
    start(&t, &list, 1);
    for (uint32_t i = 0; i < INFLIGHT_IDS + 10; i++) {
        const uint32_t slot = send_one(&t, &list, 3, i);

        assert_int_equal(inflight_at(&t, slot)->id, i % INFLIGHT_IDS);
        inflight_remove(&t, &list, slot);
        assert_true(inflight_id_was_used(&list, (uint16_t)i));
        assert_int_equal(inflight_id_was_used(&list, (uint16_t)(i + 1)), i + 1 >= INFLIGHT_IDS);
        assert_int_equal(inflight_id_was_used(&list, UINT16_MAX), i + 1 >= INFLIGHT_IDS);
    }
    inflight_free(&t);
}

static void an_id_in_use_is_passed_over_after_the_wrap(void **state)
{
    struct inflight_list list;
    struct inflight t;

    (void)state;
    start(&t, &list, 1);
    inflight_remove(&t, &list, send_one(&t, &list, 0, 0));
    inflight_expire(&t, &list, send_one(&t, &list, 0, 1));
    for (uint32_t i = 2; i < INFLIGHT_IDS; i++)
        inflight_remove(&t, &list, send_one(&t, &list, 0, i));
    assert_int_equal(inflight_at(&t, send_one(&t, &list, 0, INFLIGHT_IDS))->id, 0);
    assert_int_equal(inflight_at(&t, send_one(&t, &list, 0, INFLIGHT_IDS))->id, 2);
    assert_true(inflight_take_late(&t, &list, 0, 1));
    inflight_free(&t);
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

/* 30 connections have a query with id 1, the asking ones have not; many share a hash bucket. */
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

/* --- a model: one entry per slot, searched from end to end --- */

struct model_query {
    enum inflight_state state;
    uint32_t connection;
    uint32_t id;
    uint64_t order; /* of queueing, of sending once sent */
};

struct model {
    struct inflight t;
    struct inflight_list lists[N_CONNECTIONS];
    struct model_query queries[N_MODEL];
    bool is_owed[N_CONNECTIONS][N_STEPS]; /* expired: an answer with this id */
    uint64_t n_owed;
    uint32_t n_ids[N_CONNECTIONS];
    uint64_t step, random;
};

static uint32_t random_below(struct model *m, uint32_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->random >> 33) % n);
}

/* The slot with the lowest order in that state; connection NONE: of any. */
static uint32_t model_first(const struct model *m, enum inflight_state wanted, uint32_t connection)
{
    uint32_t first = NONE;

    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        const struct model_query *q = &m->queries[i];

        if (q->state == wanted && (connection == NONE || q->connection == connection) &&
            (first == NONE || q->order < m->queries[first].order))
            first = i;
    }
    return first;
}

static uint32_t model_find(const struct model *m, uint32_t connection, uint32_t id)
{
    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        const struct model_query *q = &m->queries[i];

        if (q->state == INFLIGHT_SENT && q->connection == connection && q->id == id)
            return i;
    }
    return NONE;
}

static void model_queue(struct model *m, uint32_t c)
{
    const uint32_t slot = inflight_queue(&m->t, &m->lists[c], c, m->step, 0);

    assert_in_range(slot, 0, N_MODEL - 1);
    assert_int_equal(m->queries[slot].state, INFLIGHT_FREE);
    m->queries[slot] = (struct model_query){INFLIGHT_QUEUED, c, 0, m->step};
}

static void model_send(struct model *m, uint32_t c)
{
    const uint32_t slot = m->lists[c].queued_head;
    bool recycled = false;

    assert_int_equal(slot, model_first(m, INFLIGHT_QUEUED, c));
    if (slot == NONE)
        return;
    assert_int_equal(inflight_assign_id(&m->t, &m->lists[c], &recycled), 0);
    inflight_mark_sent(&m->t, &m->lists[c], m->step);
    inflight_mark_written(&m->t, &m->lists[c]);
    assert_false(recycled);
    m->queries[slot] = (struct model_query){INFLIGHT_SENT, c, m->n_ids[c]++, m->step};
}

static void model_expire(struct model *m)
{
    const uint32_t slot = inflight_oldest(&m->t);

    if (slot == NONE)
        return;
    inflight_expire(&m->t, &m->lists[m->queries[slot].connection], slot);
    m->queries[slot].state = inflight_at(&m->t, slot)->state; /* free, or of expired ids */
    m->is_owed[m->queries[slot].connection][m->queries[slot].id] = true;
    m->n_owed++;
}

static void model_answer(struct model *m, uint32_t c)
{
    const uint32_t back = random_below(m, 60);
    const uint32_t id = m->n_ids[c] > back ? m->n_ids[c] - back : 0;
    const uint32_t slot = inflight_find(&m->t, &m->lists[c], c, (uint16_t)id);

    assert_int_equal(slot, model_find(m, c, id));
    assert_int_equal(inflight_id_was_used(&m->lists[c], (uint16_t)id), id < m->n_ids[c]);
    if (slot != NONE) {
        inflight_answered(&m->t, &m->lists[c], slot);
        m->queries[slot].state = INFLIGHT_FREE;
        return;
    }
    assert_int_equal(inflight_take_late(&m->t, &m->lists[c], c, (uint16_t)id), m->is_owed[c][id]);
    m->n_owed -= m->is_owed[c][id];
    m->is_owed[c][id] = false;
    for (uint32_t i = 0; i < m->t.n_touched; i++) /* that was the last one of its slot */
        if (m->queries[i].state == INFLIGHT_EXPIRED)
            m->queries[i].state = inflight_at(&m->t, i)->state;
}

static void model_remove(struct model *m)
{
    const uint32_t slot = random_below(m, m->t.n_touched + 1);
    struct model_query *q = &m->queries[slot];

    if (q->state == INFLIGHT_FREE || q->state == INFLIGHT_EXPIRED)
        return;
    inflight_remove(&m->t, &m->lists[q->connection], slot);
    q->state = INFLIGHT_FREE;
}

static void assert_like_model(struct model *m)
{
    uint32_t counts[INFLIGHT_EXPIRED + 1] = {0};

    for (uint32_t i = 0; i < m->t.n_touched; i++) {
        assert_int_equal(inflight_at(&m->t, i)->state, m->queries[i].state);
        counts[m->queries[i].state]++;
    }
    assert_counts(&m->t, counts[INFLIGHT_QUEUED], counts[INFLIGHT_SENT], m->n_owed);
    assert_int_equal(inflight_oldest(&m->t), model_first(m, INFLIGHT_SENT, NONE));
}

static void random_steps_agree_with_a_simple_model(void **state)
{
    struct model *m = calloc(1, sizeof *m);

    (void)state;
    assert_non_null(m);
    m->random = 2026;
    start(&m->t, m->lists, N_CONNECTIONS);
    for (m->step = 1; m->step <= N_STEPS; m->step++) {
        const uint32_t c = random_below(m, N_CONNECTIONS), what = random_below(m, 100);

        if (what < 25)
            model_queue(m, c);
        else if (what < 50)
            model_send(m, c);
        else if (what < 60)
            model_expire(m);
        else if (what < 90)
            model_answer(m, c);
        else
            model_remove(m);
        assert_like_model(m);
    }
    assert_true(m->t.n_slots > 64);
    inflight_free(&m->t);
    free(m);
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
        cmocka_unit_test(a_query_waits_while_all_ids_are_in_flight),
        cmocka_unit_test(no_id_is_given_up_before_a_later_query_is_answered),
        cmocka_unit_test(an_id_is_recycled_only_when_all_are_used),
        cmocka_unit_test(a_freed_id_is_found_among_65535_used_ones),
        cmocka_unit_test(an_id_counts_as_used_from_its_first_use_on),
        cmocka_unit_test(an_id_in_use_is_passed_over_after_the_wrap),
        cmocka_unit_test(growing_keeps_every_query_findable),
        cmocka_unit_test(a_query_of_another_connection_is_never_found),
        cmocka_unit_test(removed_slots_are_used_again),
        cmocka_unit_test(random_steps_agree_with_a_simple_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
