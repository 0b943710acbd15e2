/* SPDX-License-Identifier: MIT
 * test_overflow: which worker accepts for which, and when another one is wanted.  Pipes stand for
 * listeners: only readability matters. */
#include "server/overflow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static struct server_overflow o;

static void open_overflow(bool may_grow)
{
    assert_int_equal(server_overflow_open(&o, true, may_grow), 0);
}

/* A listener with a connection waiting. */
static int open_listener(int *peer)
{
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    *peer = fds[1];
    return fds[0];
}

static void listeners_are_served_in_turn_until_they_are_withdrawn(void **state)
{
    int peers[2], a, b;

    (void)state;
    open_overflow(false);
    a = open_listener(&peers[0]);
    b = open_listener(&peers[1]);
    assert_int_equal(server_overflow_next(&o), -1);
    server_overflow_offer(&o, a);
    server_overflow_offer(&o, b);
    server_overflow_offer(&o, b);
    assert_int_equal(server_overflow_next(&o), a);
    assert_int_equal(server_overflow_next(&o), b);
    assert_int_equal(server_overflow_next(&o), a);
    server_overflow_withdraw(&o, b);
    assert_int_equal(server_overflow_next(&o), a);
    assert_int_equal(server_overflow_next(&o), a);
    server_overflow_withdraw(&o, a);
    assert_int_equal(server_overflow_next(&o), -1);
    for (int i = 0; i < 2; i++)
        close(peers[i]);
    close(a);
    close(b);
    server_overflow_close(&o);
}

static void worker_is_wanted_once_the_last_helper_has_left(void **state)
{
    (void)state;
    open_overflow(true);
    server_overflow_enter(&o);
    server_overflow_enter(&o);
    server_overflow_leave(&o);
    assert_true(server_overflow_call_helper(&o));
    assert_false(server_overflow_take_request(&o));
    server_overflow_leave(&o);
    assert_true(server_overflow_call_helper(&o)); /* one will be started */
    assert_true(server_overflow_take_request(&o));
    assert_false(server_overflow_take_request(&o));
    server_overflow_close(&o);
}

static void request_is_void_once_somebody_has_room_again(void **state)
{
    (void)state;
    open_overflow(true);
    assert_true(server_overflow_call_helper(&o));
    server_overflow_enter(&o);
    assert_false(server_overflow_take_request(&o));
    server_overflow_close(&o);
}

static void no_worker_is_requested_if_none_may_be_started(void **state)
{
    (void)state;
    open_overflow(false);
    assert_false(server_overflow_call_helper(&o));
    assert_false(server_overflow_take_request(&o));
    server_overflow_let_grow(&o, true);
    assert_true(server_overflow_call_helper(&o));
    assert_true(server_overflow_take_request(&o));
    server_overflow_close(&o);
}

static void one_helper_at_a_time_has_the_turn(void **state)
{
    (void)state;
    open_overflow(false);
    assert_true(server_overflow_take_turn(&o));
    assert_false(server_overflow_take_turn(&o));
    server_overflow_pass_turn(&o);
    assert_true(server_overflow_take_turn(&o));
    assert_false(server_overflow_take_turn(&o));
    server_overflow_close(&o);
}

static void unused_it_has_no_descriptors(void **state)
{
    (void)state;
    assert_int_equal(server_overflow_open(&o, false, true), 0);
    assert_false(server_overflow_is_open(&o));
    assert_false(server_overflow_call_helper(&o));
    server_overflow_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners_are_served_in_turn_until_they_are_withdrawn),
        cmocka_unit_test(worker_is_wanted_once_the_last_helper_has_left),
        cmocka_unit_test(request_is_void_once_somebody_has_room_again),
        cmocka_unit_test(no_worker_is_requested_if_none_may_be_started),
        cmocka_unit_test(one_helper_at_a_time_has_the_turn),
        cmocka_unit_test(unused_it_has_no_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
