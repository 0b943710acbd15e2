/* SPDX-License-Identifier: MIT
 * test_select: the connection selected for an arrival, or a substitute. */
#include "client/worker/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SEED = 7 };

/* The slots from `oldest` on are open. */
static struct client_pool pool_of(uint32_t n_slots, uint32_t oldest, uint32_t n_open)
{
    struct client_pool p;

    client_pool_init(&p, n_slots, n_slots);
    p.oldest = oldest;
    p.n_open = n_open;
    return p;
}

static void the_chosen_one_is_taken_when_all_slots_are_open(void **state)
{
    const struct client_pool pool = pool_of(4, 2, 4);
    struct client_select s;

    (void)state;
    client_select_init(&s, true, SEED, 0);
    for (uint32_t chosen = 0; chosen < 10; chosen++)
        assert_int_equal(client_select_first(&s, &pool, chosen), chosen);
}

static void without_an_open_slot_there_is_none(void **state)
{
    const struct client_pool pool = pool_of(4, 2, 0);
    struct client_select s;

    (void)state;
    client_select_init(&s, true, SEED, 0);
    assert_int_equal(client_select_first(&s, &pool, 1), CLIENT_SELECT_NO_SLOT);
}

static void open_slots_take_turns_from_the_oldest_on(void **state)
{
    const struct client_pool pool = pool_of(5, 3, 3);
    const uint32_t expected[] = {3, 4, 0, 3, 4, 0, 3};
    struct client_select s;

    (void)state;
    client_select_init(&s, false, SEED, 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(client_select_first(&s, &pool, 1), expected[i]);
}

static void turns_begin_again_when_fewer_are_open(void **state)
{
    struct client_pool pool = pool_of(5, 0, 4);
    struct client_select s;

    (void)state;
    client_select_init(&s, false, SEED, 0);
    for (uint32_t i = 0; i < 3; i++)
        client_select_first(&s, &pool, 0);
    pool.n_open = 2;
    assert_int_equal(client_select_first(&s, &pool, 4), 0);
    assert_int_equal(client_select_first(&s, &pool, 4), 0);
    assert_int_equal(client_select_first(&s, &pool, 4), 1);
}

static void random_choices_fall_on_each_open_slot_and_no_other(void **state)
{
    const struct client_pool pool = pool_of(5, 3, 3);
    uint32_t n[5] = {0};
    struct client_select s;

    (void)state;
    client_select_init(&s, true, SEED, 0);
    for (int i = 0; i < 3000; i++)
        n[client_select_first(&s, &pool, 1)]++;
    for (uint32_t slot = 0; slot < 5; slot++)
        assert_in_range(n[slot], client_pool_has(&pool, slot) ? 850 : 0,
                        client_pool_has(&pool, slot) ? 1150 : 0);
}

static void the_same_seed_makes_the_same_choices_and_each_worker_its_own(void **state)
{
    const struct client_pool pool = pool_of(1000, 0, 999);
    struct client_select a, b, other;
    int n_equal = 0;

    (void)state;
    client_select_init(&a, true, SEED, 0);
    client_select_init(&b, true, SEED, 0);
    client_select_init(&other, true, SEED, 1);
    for (int i = 0; i < 100; i++) {
        const uint32_t slot = client_select_first(&a, &pool, 0);

        assert_int_equal(client_select_first(&b, &pool, 0), slot);
        n_equal += client_select_first(&other, &pool, 0) == slot;
    }
    assert_true(n_equal < 10);
}

static void another_connection_is_selected_from_the_list(void **state)
{
    const uint32_t usable[] = {17, 4, 99};
    uint32_t n[100] = {0};
    struct client_select s;

    (void)state;
    client_select_init(&s, true, SEED, 0);
    for (int i = 0; i < 300; i++)
        n[client_select_listed(&s, usable, 3)]++;
    assert_true(n[17] > 0 && n[4] > 0 && n[99] > 0);
    assert_int_equal(n[17] + n[4] + n[99], 300);
}

enum { N_SLOTS = 5000 };

static unsigned n_asked; /* how often one was asked whether it is usable */

static bool is_every_fourth(const void *context, uint32_t slot)
{
    (void)context;
    n_asked++;
    assert_in_range(slot, 0, N_SLOTS - 1);
    return slot % 4 == 0;
}

static bool is_none(const void *context, uint32_t slot)
{
    (void)context;
    (void)slot;
    n_asked++;
    return false;
}

static void tries_find_one_where_many_are_usable_and_end_where_few_are(void **state)
{
    struct client_select s;
    unsigned n_low = 0;

    (void)state;
    client_select_init(&s, true, SEED, 0);
    for (int i = 0; i < 100; i++) {
        const uint32_t slot = client_select_try(&s, N_SLOTS, is_every_fourth, NULL);

        assert_int_equal(slot % 4, 0);
        n_low += slot < N_SLOTS / 2;
    }
    assert_in_range(n_low, 20, 80);
    n_asked = 0;
    assert_int_equal(client_select_try(&s, N_SLOTS, is_none, NULL), CLIENT_SELECT_NO_SLOT);
    assert_in_range(n_asked, 1, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_one_is_taken_when_all_slots_are_open),
        cmocka_unit_test(without_an_open_slot_there_is_none),
        cmocka_unit_test(open_slots_take_turns_from_the_oldest_on),
        cmocka_unit_test(turns_begin_again_when_fewer_are_open),
        cmocka_unit_test(random_choices_fall_on_each_open_slot_and_no_other),
        cmocka_unit_test(the_same_seed_makes_the_same_choices_and_each_worker_its_own),
        cmocka_unit_test(another_connection_is_selected_from_the_list),
        cmocka_unit_test(tries_find_one_where_many_are_usable_and_end_where_few_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
