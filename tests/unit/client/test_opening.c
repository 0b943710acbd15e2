/* SPDX-License-Identifier: MIT */
#include "client/opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S 1000000000ull

/* At second 100: 1,000 connections had an outcome, of which 900 became usable. */
static struct client_opening after_a_usable_one(void)
{
    struct client_opening o = {.window = 8, .timeout_ns = 15 * S};

    assert_false(client_opening_is_futile(&o, 1000, 900, 100 * S));
    return o;
}

static void two_windows_without_a_usable_connection_for_two_timeouts_are_futile(void **state)
{
    struct client_opening o = after_a_usable_one();

    (void)state;
    assert_false(client_opening_is_futile(&o, 1015, 900, 130 * S));
    assert_false(client_opening_is_futile(&o, 1016, 900, 130 * S - 1));
    assert_true(client_opening_is_futile(&o, 1016, 900, 130 * S));
    assert_int_equal(o.n_settled, 1000);
}

static void refusals_are_not_futile_at_once(void **state)
{
    struct client_opening o = after_a_usable_one();

    (void)state;
    assert_false(client_opening_is_futile(&o, 1000000, 900, 129 * S));
    assert_true(client_opening_is_futile(&o, 1000001, 900, 131 * S));
}

static void a_usable_connection_begins_anew(void **state)
{
    struct client_opening o = after_a_usable_one();

    (void)state;
    assert_false(client_opening_is_futile(&o, 1016, 901, 130 * S));
    assert_false(client_opening_is_futile(&o, 1032, 901, 160 * S - 1));
    assert_true(client_opening_is_futile(&o, 1032, 901, 160 * S));
    assert_int_equal(o.n_settled, 1016);
}

static void a_single_slow_window_is_not_futile(void **state)
{
    struct client_opening o = after_a_usable_one();

    (void)state;
    assert_false(client_opening_is_futile(&o, 1008, 900, 3600 * S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_windows_without_a_usable_connection_for_two_timeouts_are_futile),
        cmocka_unit_test(refusals_are_not_futile_at_once),
        cmocka_unit_test(a_usable_connection_begins_anew),
        cmocka_unit_test(a_single_slow_window_is_not_futile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
