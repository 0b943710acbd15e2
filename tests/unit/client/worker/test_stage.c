/* SPDX-License-Identifier: MIT
 * test_stage: stages only advance, and each wakes up the main thread once. */
#include "client/worker/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t n_wakeups(int fd)
{
    uint64_t n = 0;

    return read(fd, &n, sizeof n) == sizeof n ? n : 0;
}

static void each_later_stage_wakes_the_main_thread_once(void **state)
{
    struct client_stages s = {.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    (void)state;
    assert_true(s.wake_fd >= 0);
    assert_int_equal(client_stage_of(&s), CLIENT_CONNECTING);
    client_stage_enter(&s, CLIENT_CONNECTED);
    assert_int_equal(client_stage_of(&s), CLIENT_CONNECTED);
    assert_int_equal(n_wakeups(s.wake_fd), 1);
    client_stage_enter(&s, CLIENT_CONNECTED);
    client_stage_enter(&s, CLIENT_CONNECTING);
    assert_int_equal(client_stage_of(&s), CLIENT_CONNECTED);
    assert_int_equal(n_wakeups(s.wake_fd), 0);
    client_stage_enter(&s, CLIENT_DRAINED); /* skipping one */
    assert_int_equal(client_stage_of(&s), CLIENT_DRAINED);
    client_stage_enter(&s, CLIENT_LOADING);
    assert_int_equal(client_stage_of(&s), CLIENT_DRAINED);
    assert_int_equal(n_wakeups(s.wake_fd), 1);
    assert_int_equal(close(s.wake_fd), 0);
}

/* A non-blocking eventfd refuses to exceed its maximum, UINT64_MAX - 1. */
static void a_stage_is_entered_even_if_the_eventfd_is_full(void **state)
{
    struct client_stages s = {.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const uint64_t full = UINT64_MAX - 1;

    (void)state;
    assert_int_equal(write(s.wake_fd, &full, sizeof full), sizeof full);
    client_stage_enter(&s, CLIENT_LOADING);
    assert_int_equal(client_stage_of(&s), CLIENT_LOADING);
    assert_true(n_wakeups(s.wake_fd) == full);
    assert_int_equal(close(s.wake_fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_later_stage_wakes_the_main_thread_once),
        cmocka_unit_test(a_stage_is_entered_even_if_the_eventfd_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
