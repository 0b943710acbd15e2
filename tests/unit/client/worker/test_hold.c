/* SPDX-License-Identifier: MIT
 * test_hold: only the connect rate counts, and only while a query waits. */
#include "client/worker/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct client_hold hold;

static int start(void **state)
{
    (void)state;
    return client_hold_init(&hold, 2);
}

static int stop(void **state)
{
    (void)state;
    client_hold_free(&hold);
    return 0;
}

static void a_query_is_held_from_the_request_until_the_rate_allows_the_connection(void **state)
{
    (void)state;
    client_hold_request(&hold, 1, 100);
    client_hold_allow(&hold, 1, 130);
    assert_int_equal(client_hold_ns(&hold, 1, 100), 30);
    assert_int_equal(client_hold_ns(&hold, 1, 129), 1);
    assert_int_equal(client_hold_ns(&hold, 0, 100), 0);
}

/* The handshake has begun. */
static void a_query_that_is_due_later_is_not_held(void **state)
{
    (void)state;
    client_hold_request(&hold, 0, 100);
    client_hold_allow(&hold, 0, 130);
    assert_int_equal(client_hold_ns(&hold, 0, 130), 0);
    assert_int_equal(client_hold_ns(&hold, 0, 200), 0);
}

/* The window was full, so the rate had connections to spare. */
static void a_connection_that_the_rate_allowed_before_its_request_is_not_held(void **state)
{
    (void)state;
    client_hold_request(&hold, 0, 100);
    client_hold_allow(&hold, 0, 90);
    assert_int_equal(client_hold_ns(&hold, 0, 100), 0);
}

static void the_wait_for_the_previous_connection_to_close_does_not_count(void **state)
{
    (void)state;
    client_hold_request(&hold, 0, 100);
    client_hold_allow(&hold, 0, 130);
    assert_int_equal(client_hold_ns(&hold, 0, 20), 30);
}

static void without_a_rate_nothing_is_held(void **state)
{
    struct client_hold none = {0};

    (void)state;
    assert_false(client_hold_is_kept(&none));
    client_hold_request(&none, 0, 100);
    client_hold_allow(&none, 0, 130);
    assert_int_equal(client_hold_ns(&none, 0, 100), 0);
    client_hold_free(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_query_is_held_from_the_request_until_the_rate_allows_the_connection),
        TEST(a_query_that_is_due_later_is_not_held),
        TEST(a_connection_that_the_rate_allowed_before_its_request_is_not_held),
        TEST(the_wait_for_the_previous_connection_to_close_does_not_count),
        cmocka_unit_test(without_a_rate_nothing_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
