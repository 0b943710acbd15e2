/* SPDX-License-Identifier: MIT
 * test_thread_start: signals are for the thread that starts others. */
#include "base/thread_start.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void *read_mask(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return arg;
}

static void a_thread_gets_no_signals(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM};
    sigset_t own, others;
    pthread_t thread;
    void *result;

    (void)state;
    sigemptyset(&others);
    assert_int_equal(thread_start(&thread, read_mask, &others), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &others);
    read_mask(&own);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_true(sigismember(&others, signals[i]) == 1);
        assert_true(sigismember(&own, signals[i]) == 0);
    }
}

static void limits_that_may_be_the_reason_are_named(void **state)
{
    (void)state;
    assert_non_null(strstr(thread_start_hint(EAGAIN), "ulimit -u"));
    assert_string_equal(thread_start_hint(ENOMEM), " (see ulimit -v and -d)");
    assert_string_equal(thread_start_hint(EMFILE), " (see ulimit -n)");
    assert_string_equal(thread_start_hint(ENFILE), " (see fs.file-max)");
    assert_string_equal(thread_start_hint(ENOSPC), " (see fs.epoll.max_user_watches)");
    assert_string_equal(thread_start_hint(EPERM), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_gets_no_signals),
        cmocka_unit_test(limits_that_may_be_the_reason_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
