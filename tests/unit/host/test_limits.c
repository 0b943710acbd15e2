/* SPDX-License-Identifier: MIT
 * test_limits: the limits of a user to whom the program will switch. */
#include "host/limits.h"
#include "host/proc_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY_AT_ALL = 0x7ffffffe }; /* a user without processes */

/* Lowers the soft limit on threads.  Returns what it is. */
static uint64_t limit_threads(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NPROC, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 1000 ? limit.rlim_max : 1000;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &limit), 0);
    return limit.rlim_cur;
}

static void threads_of_another_user_are_limited_even_for_root(void **state)
{
    const uint64_t most = limit_threads();
    struct host_limits host;

    (void)state;
    host_limits_read(&host);
    if (getuid() == 0 && proc_number("/proc/self/uid_map", "", 1) == 0)
        assert_true(host.user_threads_max == HOST_LIMITS_UNKNOWN); /* the control */
    host.is_exempt_from_file_max = true;
    host_limits_of_user(&host, NOBODY_AT_ALL);
    assert_false(host.is_exempt_from_file_max);
    assert_int_equal(host.user_threads_max, most);
    assert_int_equal(host.user_threads, 1); /* this one */
    host_limits_of_user(&host, getuid());
    assert_true(host.user_threads >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_another_user_are_limited_even_for_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
