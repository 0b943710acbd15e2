/* SPDX-License-Identifier: MIT
 * test_slots: connections that replace one another. */
#include "client/worker/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_second_connection_of_a_slot_follows_the_first(void **state)
{
    struct client_slots s = {0};

    (void)state;
    assert_int_equal(client_slots_init(&s, 2, 1, 0), 0);
    assert_false(client_slots_begin(&s, 0));
    s.all[0].n_queries = 5;
    assert_true(client_slots_begin(&s, 0));
    assert_int_equal(s.all[0].n_queries, 0);
    assert_false(client_slots_begin(&s, 1));
    client_slots_forget(&s, 0);
    assert_false(client_slots_begin(&s, 0));
    client_slots_free(&s);
}

static void the_gap_lasts_from_an_end_to_the_next_usable_connection(void **state)
{
    struct client_slots s = {0};

    (void)state;
    assert_int_equal(client_slots_init(&s, 1, 1, 0), 0);
    assert_true(client_slots_become_usable(&s, 0, 100) == 0);
    s.all[0].ended_ns = 250;
    s.all[0].n_failures = 3;
    assert_true(client_slots_become_usable(&s, 0, 400) == 150);
    assert_int_equal(s.all[0].n_failures, 0);
    client_slots_free(&s);
}

static void a_slot_is_lost_until_it_is_usable_again_whatever_fails_in_between(void **state)
{
    struct client_slots s = {0};

    (void)state;
    assert_int_equal(client_slots_init(&s, 1, 1, 0), 0);
    (void)client_slots_begin(&s, 0);
    client_slots_fail(&s, 0, 50); /* it never was usable */
    (void)client_slots_begin(&s, 0);
    client_slots_become_usable(&s, 0, 100);
    assert_true(client_slots_recover(&s, 0, 100) == 0);
    client_slots_fail(&s, 0, 300);
    (void)client_slots_begin(&s, 0);
    client_slots_fail(&s, 0, 400);
    (void)client_slots_begin(&s, 0);
    assert_int_equal(s.all[0].n_failures, 2);
    client_slots_become_usable(&s, 0, 700);
    assert_true(client_slots_recover(&s, 0, 700) == 400);
    assert_true(client_slots_recover(&s, 0, 800) == 0);
    client_slots_free(&s);
}

/* Given up after a failure, and asked for again an hour later. */
static void a_slot_that_was_given_up_is_not_missed(void **state)
{
    struct client_slots s = {0};

    (void)state;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(client_slots_init(&s, 1, 1, 0), 0);
        (void)client_slots_begin(&s, 0);
        assert_int_equal(client_slots_become_usable(&s, 0, 100), 0);
        s.all[0].ended_ns = 250;
        client_slots_fail(&s, 0, 250);
        if (again)
            client_slots_forget(&s, 0);
        else
            client_slots_release(&s, 0);
        (void)client_slots_begin(&s, 0);
        assert_int_equal(client_slots_become_usable(&s, 0, 3600), 0);
        assert_int_equal(client_slots_recover(&s, 0, 3600), 0);
        client_slots_free(&s);
    }
}

static void none_are_kept_without_init(void **state)
{
    struct client_slots s = {0};

    (void)state;
    assert_false(client_slots_are_kept(&s));
    client_slots_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_connection_of_a_slot_follows_the_first),
        cmocka_unit_test(the_gap_lasts_from_an_end_to_the_next_usable_connection),
        cmocka_unit_test(a_slot_is_lost_until_it_is_usable_again_whatever_fails_in_between),
        cmocka_unit_test(a_slot_that_was_given_up_is_not_missed),
        cmocka_unit_test(none_are_kept_without_init),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
