/* SPDX-License-Identifier: MIT
 * test_alarm: an alarm fires once for each time that it is set, unless it is cleared. */
#include "net/alarm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LONG_AGO_NS = 1 };

static struct alarm a;
static struct event_base *base;
static int n_fired;

static void on_alarm(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    assert_ptr_equal(arg, &n_fired);
    n_fired++;
    alarm_clear(&a);
}

static int set_up(void **state)
{
    (void)state;
    n_fired = 0;
    base = event_base_new();
    return base != NULL ? alarm_init(&a, base, 0, on_alarm, &n_fired) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    alarm_free(&a);
    alarm_free(&a);
    event_base_free(base);
    return 0;
}

static void a_time_that_has_passed_fires_at_once(void **state)
{
    (void)state;
    alarm_set(&a, LONG_AGO_NS);
    event_base_loop(base, EVLOOP_ONCE);
    assert_int_equal(n_fired, 1);
    event_base_loop(base, EVLOOP_NONBLOCK);
    assert_int_equal(n_fired, 1);
    alarm_set(&a, LONG_AGO_NS);
    event_base_loop(base, EVLOOP_ONCE);
    assert_int_equal(n_fired, 2);
}

static void what_is_cleared_does_not_fire(void **state)
{
    (void)state;
    alarm_set(&a, LONG_AGO_NS);
    alarm_clear(&a);
    event_base_loop(base, EVLOOP_NONBLOCK);
    assert_int_equal(n_fired, 0);
}

static void a_later_time_replaces_an_earlier_one(void **state)
{
    (void)state;
    alarm_set(&a, LONG_AGO_NS);
    alarm_set(&a, UINT64_MAX / 2);
    event_base_loop(base, EVLOOP_NONBLOCK);
    assert_int_equal(n_fired, 0);
}

static void one_that_was_never_opened_is_left_alone(void **state)
{
    struct alarm never = {.is_open = false};

    (void)state;
    alarm_clear(&never);
    alarm_free(&never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_time_that_has_passed_fires_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_cleared_does_not_fire, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_later_time_replaces_an_earlier_one, set_up, tear_down),
        cmocka_unit_test(one_that_was_never_opened_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
