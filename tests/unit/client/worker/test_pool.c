/* SPDX-License-Identifier: MIT
 * test_pool: slots are consecutive, wrap around, and the oldest is closed first. */
#include "base/rng.h"
#include "client/worker/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void open_all(struct client_pool *p)
{
    while (client_pool_has_next(p))
        client_pool_open_next(p);
}

static void open_slots_are_successive_around_the_array(void **state)
{
    struct client_pool p;

    (void)state;
    client_pool_init(&p, 3, 2);
    assert_true(client_pool_has_next(&p));
    assert_int_equal(client_pool_next(&p), 0);
    open_all(&p);
    assert_int_equal(p.n_open, 2);
    assert_int_equal(client_pool_close_oldest(&p), 0);
    assert_int_equal(client_pool_next(&p), 2);
    client_pool_open_next(&p);
    assert_int_equal(client_pool_close_oldest(&p), 1);
    assert_int_equal(client_pool_next(&p), 0);
    client_pool_open_next(&p);
    assert_int_equal(client_pool_slot(&p, 0), 2);
    assert_int_equal(client_pool_slot(&p, 1), 0);
    assert_true(client_pool_has(&p, 2));
    assert_true(client_pool_has(&p, 0));
    assert_false(client_pool_has(&p, 1));
}

static void nothing_is_open_at_first(void **state)
{
    struct client_pool p;

    (void)state;
    client_pool_init(&p, 2, 0);
    assert_false(client_pool_has_next(&p));
    assert_false(client_pool_has(&p, 0));
    assert_false(client_pool_is_stepping(&p));
}

static void a_schedule_that_wants_fewer_leaves_the_newest(void **state)
{
    struct client_pool p;

    (void)state;
    client_pool_init(&p, 5, 5);
    open_all(&p);
    client_pool_want(&p, 2);
    assert_false(client_pool_has_next(&p));
    for (uint32_t slot = 0; p.n_open > p.n_wanted; slot++)
        assert_int_equal(client_pool_close_oldest(&p), slot);
    assert_true(client_pool_has(&p, 3));
    assert_true(client_pool_has(&p, 4));
}

static void a_request_opens_one_connection_a_step(void **state)
{
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 10, 4);
    open_all(&p);
    assert_int_equal(client_pool_request(&p, 6), 2);
    for (uint32_t n = 5; n <= 6; n++) {
        assert_false(client_pool_has_next(&p));
        assert_true(client_pool_is_stepping(&p));
        assert_false(client_pool_step(&p, &slot));
        open_all(&p);
        assert_int_equal(p.n_open, n);
    }
    assert_false(client_pool_is_stepping(&p));
}

static void a_request_closes_the_oldest_one_a_step(void **state)
{
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 4, 4);
    open_all(&p);
    assert_int_equal(client_pool_request(&p, 2), 0);
    for (uint32_t closed = 0; closed < 2; closed++) {
        assert_true(client_pool_step(&p, &slot));
        assert_int_equal(slot, closed);
        assert_false(client_pool_has(&p, slot));
    }
    assert_false(client_pool_is_stepping(&p));
    assert_false(client_pool_has_next(&p));
}

static void a_request_withdraws_what_is_not_open_yet(void **state)
{
    struct client_pool p;

    (void)state;
    client_pool_init(&p, 10, 6);
    client_pool_open_next(&p);
    assert_int_equal(client_pool_request(&p, 8), 2);
    assert_int_equal(client_pool_request(&p, 1), 0);
    assert_int_equal(p.n_to_close, 0);
    assert_int_equal(p.n_to_open, 0);
    assert_false(client_pool_has_next(&p));
    assert_int_equal(client_pool_request(&p, 0), 0);
    assert_int_equal(p.n_to_close, 1);
}

static void opening_goes_first_while_there_is_a_slot(void **state)
{
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 3, 2);
    open_all(&p);
    client_pool_request(&p, 1);
    client_pool_request(&p, 2);
    assert_int_equal(p.n_to_open, 1);
    assert_int_equal(p.n_to_close, 1);
    assert_false(client_pool_step(&p, &slot));
    open_all(&p);
    assert_int_equal(p.n_open, 3);
    assert_true(client_pool_step(&p, &slot));
    assert_int_equal(slot, 0);
}

static void a_full_array_closes_first(void **state)
{
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 2, 2);
    open_all(&p);
    client_pool_request(&p, 1);
    client_pool_request(&p, 2);
    assert_true(client_pool_step(&p, &slot));
    assert_int_equal(slot, 0);
    assert_false(client_pool_step(&p, &slot));
    assert_int_equal(client_pool_next(&p), 0);
}

/* Requests arrive between any two steps. */
static void steps_lead_to_the_latest_request(void **state)
{
    struct rng rng;
    uint32_t slot;

    (void)state;
    rng_seed(&rng, 1, 0);
    for (int run = 0; run < 2000; run++) {
        const uint32_t n_slots = 1 + rng_below(&rng, 8);
        struct client_pool p;

        client_pool_init(&p, n_slots, rng_below(&rng, n_slots + 1));
        for (int i = 0; i < 20; i++) {
            if (rng_below(&rng, 3) == 0)
                client_pool_request(&p, rng_below(&rng, n_slots + 1));
            if (client_pool_is_stepping(&p))
                client_pool_step(&p, &slot);
            if (client_pool_has_next(&p) && rng_below(&rng, 2) == 0)
                client_pool_open_next(&p);
            assert_true(p.n_open <= n_slots);
            assert_true(p.n_to_close <= p.n_open);
        }
        for (; client_pool_is_stepping(&p) || client_pool_has_next(&p); open_all(&p))
            if (client_pool_is_stepping(&p))
                client_pool_step(&p, &slot);
        assert_int_equal(p.n_open, p.n_wanted);
    }
}

/* A server that accepted the first three and no others keeps them. */
static void a_search_closes_the_newest(void **state)
{
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 8, 6);
    p.closes_newest = true;
    open_all(&p);
    assert_int_equal(client_pool_request(&p, 3), 0);
    for (uint32_t closed = 5; closed >= 3; closed--) {
        assert_true(client_pool_step(&p, &slot));
        assert_int_equal(slot, closed);
    }
    assert_false(client_pool_is_stepping(&p));
    assert_int_equal(client_pool_slot(&p, 0), 0);
    assert_int_equal(client_pool_request(&p, 5), 2);
    assert_int_equal(client_pool_next(&p), 3);
}

static bool is_in_list(const void *context, uint32_t slot)
{
    for (const uint32_t *good = context; *good != UINT32_MAX; good++)
        if (*good == slot)
            return true;
    return false;
}

/* A server accepted three of six, but not the first ones: these are kept. */
static void a_search_keeps_the_good_ones(void **state)
{
    static const uint32_t good[] = {1, 4, 5, UINT32_MAX}, kept[] = {1, 4, 5}, closed[] = {3, 2, 0};
    struct client_pool p;
    uint32_t slot;

    (void)state;
    client_pool_init(&p, 8, 6);
    p.closes_newest = true;
    open_all(&p);
    client_pool_prefer(&p, is_in_list, good);
    assert_int_equal(client_pool_request(&p, 3), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(client_pool_step(&p, &slot));
        assert_int_equal(slot, closed[i]);
        assert_int_equal(client_pool_slot(&p, i), kept[i]);
        assert_false(client_pool_has(&p, closed[i]));
        assert_true(client_pool_has(&p, kept[i]));
    }
    assert_int_equal(client_pool_request(&p, 8), 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_false(client_pool_step(&p, &slot));
    open_all(&p);
    for (uint32_t i = 0; i < 8; i++) /* each slot once */
        assert_true(client_pool_has(&p, i));
    assert_int_equal(client_pool_slot(&p, 3), 0);
    client_pool_free(&p);
}

static void a_search_withdraws_before_it_closes(void **state)
{
    struct client_pool p;

    (void)state;
    client_pool_init(&p, 20, 6);
    p.closes_newest = true;
    client_pool_open_next(&p);
    client_pool_open_next(&p);                        /* 2 open, 4 allowed to open */
    assert_int_equal(client_pool_request(&p, 10), 4); /* 4 more in steps */
    assert_int_equal(client_pool_request(&p, 8), 0);
    assert_int_equal(p.n_to_open, 2);
    assert_int_equal(client_pool_request(&p, 4), 0);
    assert_int_equal(p.n_to_open, 0);
    assert_int_equal(p.n_to_close, 0);
    open_all(&p);
    assert_int_equal(p.n_open, 4);
    assert_int_equal(client_pool_request(&p, 1), 0);
    assert_int_equal(p.n_to_close, 3);
    assert_int_equal(client_pool_request(&p, 3), 0); /* two of them stay */
    assert_int_equal(p.n_to_close, 1);
    assert_int_equal(client_pool_request(&p, 5), 1);
    assert_int_equal(p.n_to_close, 0);
    assert_int_equal(p.n_to_open, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_slots_are_successive_around_the_array),
        cmocka_unit_test(nothing_is_open_at_first),
        cmocka_unit_test(a_schedule_that_wants_fewer_leaves_the_newest),
        cmocka_unit_test(a_request_opens_one_connection_a_step),
        cmocka_unit_test(a_request_closes_the_oldest_one_a_step),
        cmocka_unit_test(a_request_withdraws_what_is_not_open_yet),
        cmocka_unit_test(opening_goes_first_while_there_is_a_slot),
        cmocka_unit_test(a_full_array_closes_first),
        cmocka_unit_test(steps_lead_to_the_latest_request),
        cmocka_unit_test(a_search_closes_the_newest),
        cmocka_unit_test(a_search_keeps_the_good_ones),
        cmocka_unit_test(a_search_withdraws_before_it_closes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
