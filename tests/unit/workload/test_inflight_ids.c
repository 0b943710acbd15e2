/* SPDX-License-Identifier: MIT
 * test_inflight_ids: ids are used in turn, and reused when all are in use. */
#include "inflight_steps.h"

#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS 1000000ull

#define NONE INFLIGHT_NONE

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

/* A connection with all ids in use. */
struct full {
    struct inflight t;
    struct inflight_list list;
    uint32_t slots[INFLIGHT_IDS]; /* by id */
};

static int setup_full(void **state)
{
    struct full *f = calloc(1, sizeof *f);

    *state = f;
    if (f == NULL)
        return -1;
    start(&f->t, &f->list, 1);
    use_all_ids(&f->t, &f->list, f->slots);
    return 0;
}

static int teardown_full(void **state)
{
    struct full *f = *state;

    inflight_free(&f->t);
    free(f);
    return 0;
}

static void a_query_waits_while_all_ids_are_in_flight(void **state)
{
    struct full *f = *state;
    struct inflight_list other;
    uint32_t waiting;
    bool recycled = false;

    inflight_list_init(&other);
    waiting = inflight_queue(&f->t, &f->list, 0, 4242, 0);
    for (int again = 0; again < 3; again++)
        assert_int_equal(inflight_assign_id(&f->t, &f->list, &recycled), -1);
    assert_false(recycled);
    assert_int_equal(f->list.queued_head, waiting);
    assert_int_equal(inflight_at(&f->t, waiting)->state, INFLIGHT_QUEUED);
    assert_int_equal(inflight_at(&f->t, waiting)->intended_ns, 4242);
    assert_int_equal(inflight_at(&f->t, send_one(&f->t, &other, 1, INFLIGHT_IDS))->id, 0);
    inflight_remove(&f->t, &f->list, f->slots[777]);
    assert_int_equal(inflight_assign_id(&f->t, &f->list, &recycled), 0);
    assert_false(recycled);
    inflight_mark_sent(&f->t, &f->list, INFLIGHT_IDS);
    inflight_mark_written(&f->t, &f->list);
    assert_int_equal(inflight_at(&f->t, waiting)->id, 777);
    assert_int_equal(inflight_find(&f->t, &f->list, 0, 777), waiting);
}

/* Tries to send another query, due at due_ns.  Returns its id, or -1 if there is none; *recycled as
 * returned by the table. */
static int32_t try_one_due(struct inflight *t, struct inflight_list *list, uint64_t due_ns,
                           bool *recycled)
{
    const uint32_t slot = inflight_queue(t, list, 0, due_ns, 0);

    if (inflight_assign_id(t, list, recycled) != 0) {
        inflight_remove(t, list, slot);
        return -1;
    }
    inflight_mark_sent(t, list, 2 * INFLIGHT_IDS);
    inflight_mark_written(t, list);
    return inflight_at(t, slot)->id;
}

static int32_t try_one(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    return try_one_due(t, list, 1000 * MS, recycled);
}

/* A server that has stopped may still answer all queries: their ids are not reused. */
static void no_id_is_given_up_before_a_later_query_is_answered(void **state)
{
    struct full *f = *state;
    bool recycled;

    for (uint32_t i = 0; i < INFLIGHT_IDS; i++)
        inflight_expire(&f->t, &f->list, f->slots[i]);
    assert_int_equal(try_one(&f->t, &f->list, &recycled), -1);
    for (uint32_t i = 0; i < INFLIGHT_IDS; i++) { /* continues where it stopped */
        assert_true(inflight_take_late(&f->t, &f->list, 0, (uint16_t)i));
        assert_int_equal(try_one(&f->t, &f->list, &recycled), i);
        assert_false(recycled);
        assert_int_equal(try_one(&f->t, &f->list, &recycled), -1);
    }
    assert_counts(&f->t, 0, INFLIGHT_IDS, 0);
}

static void an_id_is_recycled_only_when_all_are_used(void **state)
{
    static const uint16_t expired[] = {9, 100, 400, 65535};
    struct full *f = *state;
    bool recycled;

    for (size_t i = 0; i < 4; i++)
        inflight_expire(&f->t, &f->list, f->slots[expired[i]]);
    inflight_answered(&f->t, &f->list, f->slots[500]);
    assert_int_equal(try_one(&f->t, &f->list, &recycled), 500);
    assert_false(recycled);
    assert_int_equal(try_one(&f->t, &f->list, &recycled), -1); /* 65535 was used after 500 */
    inflight_answered(&f->t, &f->list, inflight_find(&f->t, &f->list, 0, 500));
    assert_int_equal(try_one(&f->t, &f->list, &recycled), 500);
    assert_false(recycled);
    for (size_t i = 0; i < 4; i++) { /* from 501 on, wrapping around */
        const uint16_t id = expired[(i + 3) % 4];

        assert_int_equal(try_one(&f->t, &f->list, &recycled), id);
        assert_true(recycled);
        assert_int_equal(f->list.n_reserved, INFLIGHT_IDS);
        assert_int_equal(f->t.n_expired, 3 - i);
        assert_false(inflight_take_late(&f->t, &f->list, 0, id));
    }
    assert_int_equal(try_one(&f->t, &f->list, &recycled), -1);
}

/* A later answer does not mean that an earlier one is lost: servers answer out of order. */
static void an_id_is_recycled_long_after_its_query_was_sent(void **state)
{
    struct full *f = *state;
    const uint64_t long_ns = 10000 * MS;
    bool recycled;

    f->t.reuse_ns = long_ns;
    inflight_expire(&f->t, &f->list, f->slots[9]);
    inflight_expire(&f->t, &f->list, f->slots[10]);
    inflight_answered(&f->t, &f->list, f->slots[500]);
    assert_int_equal(try_one(&f->t, &f->list, &recycled), 500);
    inflight_answered(&f->t, &f->list, inflight_find(&f->t, &f->list, 0, 500));
    assert_int_equal(try_one(&f->t, &f->list, &recycled), 500);
    assert_int_equal(try_one(&f->t, &f->list, &recycled), -1);
    assert_int_equal(try_one_due(&f->t, &f->list, long_ns - MS, &recycled), -1);
    assert_true(inflight_take_late(&f->t, &f->list, 0, 10)); /* its own answer */
    assert_int_equal(try_one_due(&f->t, &f->list, long_ns - MS, &recycled), 10);
    assert_false(recycled);
    assert_int_equal(try_one_due(&f->t, &f->list, long_ns - MS, &recycled), -1);
    assert_int_equal(try_one_due(&f->t, &f->list, long_ns + 100 * MS, &recycled), 9);
    assert_true(recycled);
}

/* A server that loses one query a minute needs 45 days to use up all ids of a connection. */
static void an_id_is_recycled_however_long_ago_its_query_was_sent(void **state)
{
    struct full *f = *state;
    const uint64_t day_ns = 86400000 * MS;
    bool recycled;

    f->t.reuse_ns = 10000 * MS;
    inflight_expire(&f->t, &f->list, f->slots[9]);
    inflight_answered(&f->t, &f->list, f->slots[500]);
    assert_int_equal(try_one_due(&f->t, &f->list, 30 * day_ns, &recycled), 500);
    assert_int_equal(try_one_due(&f->t, &f->list, 30 * day_ns, &recycled), 9);
    assert_true(recycled);
}

/* Answers arrive in random order: the next query gets whichever id becomes free. */
static void a_freed_id_is_found_among_65535_used_ones(void **state)
{
    struct full *f = *state;
    bool recycled;

    for (uint32_t i = 0; i < 200000; i++) {
        const uint16_t id = (uint16_t)(i * 40503u);
        const uint32_t slot = inflight_find(&f->t, &f->list, 0, id);

        assert_int_not_equal(slot, NONE);
        inflight_answered(&f->t, &f->list, slot);
        assert_int_equal(try_one(&f->t, &f->list, &recycled), id);
        assert_int_equal(try_one(&f->t, &f->list, &recycled), -1);
    }
}

/* With all ids in use, each connection has a set of its own of them. */
static void ids_that_one_connection_uses_are_free_on_another(void **state)
{
    static uint32_t slots[3][INFLIGHT_IDS];
    struct inflight_list lists[3];
    struct inflight t;

    (void)state;
    start(&t, lists, 3);
    for (uint32_t c = 0; c < 3; c++) {
        for (uint32_t id = 0; id < INFLIGHT_IDS; id++)
            slots[c][id] = send_one(&t, &lists[c], c, 0);
        inflight_remove(&t, &lists[c], slots[c][100 * (c + 1)]);
        assert_int_equal(inflight_at(&t, send_one(&t, &lists[c], c, 0))->id, 100 * (c + 1));
        if (c == 1) { /* it ends: the third takes its place */
            for (uint32_t id = 0; id < INFLIGHT_IDS; id++)
                inflight_remove(&t, &lists[1], inflight_find(&t, &lists[1], 1, (uint16_t)id));
            inflight_forget(&t, &lists[1]);
        }
    }
    assert_int_equal(t.n_id_sets, 2);
    inflight_remove(&t, &lists[0], slots[0][400]);
    inflight_remove(&t, &lists[2], slots[2][500]);
    assert_int_equal(inflight_at(&t, send_one(&t, &lists[2], 2, 0))->id, 500);
    assert_int_equal(inflight_at(&t, send_one(&t, &lists[0], 0, 0))->id, 400);
    inflight_free(&t);
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

static void the_ids_of_queries_in_flight_are_passed_over_after_each_wrap(void **state)
{
    struct inflight_list list;
    struct inflight t;
    uint32_t first, second;

    (void)state;
    start(&t, &list, 1);
    first = send_one(&t, &list, 0, 0);
    second = send_one(&t, &list, 0, 0);
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t id = 2; id < INFLIGHT_IDS; id++) {
            const uint32_t slot = send_one(&t, &list, 0, round);

            assert_int_equal(inflight_at(&t, slot)->id, id);
            inflight_remove(&t, &list, slot);
        }
    }
    assert_int_equal(inflight_find(&t, &list, 0, 1), second);
    assert_int_equal(inflight_find(&t, &list, 0, 0), first);
    inflight_free(&t);
}

static void answers_of_a_connection_are_counted_up_to_the_newest(void **state)
{
    struct inflight t;
    struct inflight_list list;

    (void)state;
    start(&t, &list, 1);
    assert_int_equal(inflight_ids_answered(&list), 0);
    for (uint32_t i = 0; i < 100; i++)
        inflight_answered(&t, &list, send_one(&t, &list, 0, i));
    inflight_remove(&t, &list, send_one(&t, &list, 0, 100)); /* failed, as the connection ended */
    assert_int_equal(inflight_ids_answered(&list), 100);
    inflight_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_query_waits_while_all_ids_are_in_flight, setup_full,
                                        teardown_full),
        cmocka_unit_test_setup_teardown(no_id_is_given_up_before_a_later_query_is_answered,
                                        setup_full, teardown_full),
        cmocka_unit_test_setup_teardown(an_id_is_recycled_only_when_all_are_used, setup_full,
                                        teardown_full),
        cmocka_unit_test_setup_teardown(an_id_is_recycled_long_after_its_query_was_sent, setup_full,
                                        teardown_full),
        cmocka_unit_test_setup_teardown(an_id_is_recycled_however_long_ago_its_query_was_sent,
                                        setup_full, teardown_full),
        cmocka_unit_test_setup_teardown(a_freed_id_is_found_among_65535_used_ones, setup_full,
                                        teardown_full),
        cmocka_unit_test(ids_that_one_connection_uses_are_free_on_another),
        cmocka_unit_test(an_id_counts_as_used_from_its_first_use_on),
        cmocka_unit_test(an_id_in_use_is_passed_over_after_the_wrap),
        cmocka_unit_test(the_ids_of_queries_in_flight_are_passed_over_after_each_wrap),
        cmocka_unit_test(answers_of_a_connection_are_counted_up_to_the_newest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
