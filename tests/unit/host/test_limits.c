/* SPDX-License-Identifier: MIT
 * test_limits: the limits of a user to whom the program will switch, and those on its memory. */
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

enum memory { DATA, ADDRESS_SPACE };

/* Leaves this many bytes more, of data or of address space, than what is mapped already, a
 * sanitizer's shadow included.  Skips the test if there is no such limit, as with qemu-user, which
 * ignores it. */
static void leave(enum memory memory, uint64_t n_bytes)
{
    const char *mapped = memory == DATA ? "VmData:" : "VmSize:";
    struct rlimit limit, now;

    assert_int_equal(getrlimit(memory == DATA ? RLIMIT_DATA : RLIMIT_AS, &limit), 0);
    limit.rlim_cur = proc_number("/proc/self/status", mapped, 0) * 1024 + n_bytes;
    assert_int_equal(setrlimit(memory == DATA ? RLIMIT_DATA : RLIMIT_AS, &limit), 0);
    assert_int_equal(getrlimit(memory == DATA ? RLIMIT_DATA : RLIMIT_AS, &now), 0);
    if (now.rlim_cur != limit.rlim_cur)
        skip();
}

static void raise_again(enum memory memory)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(memory == DATA ? RLIMIT_DATA : RLIMIT_AS, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(memory == DATA ? RLIMIT_DATA : RLIMIT_AS, &limit), 0);
}

static void what_the_smaller_limit_on_memory_leaves_counts(void **state)
{
    const uint64_t mib = 1 << 20;
    struct host_limits host;

    (void)state;
    leave(DATA, 1000 * mib);
    host_limits_read(&host);
    assert_true(host.data_is_limit);
    assert_in_range(host.address_space_bytes, 900 * mib, 1000 * mib);
    leave(ADDRESS_SPACE, 500 * mib);
    host_limits_read(&host);
    assert_false(host.data_is_limit);
    assert_in_range(host.address_space_bytes, 400 * mib, 500 * mib);
    raise_again(DATA);
    raise_again(ADDRESS_SPACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_another_user_are_limited_even_for_root),
        cmocka_unit_test(what_the_smaller_limit_on_memory_leaves_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
