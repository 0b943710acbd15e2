/* SPDX-License-Identifier: MIT
 * test_process_limits: how many workers connections need, and CPUs of this process. */
#include "host/process_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void workers_have_room_for_all_connections(void **state)
{
    enum { RESERVED = PROCESS_LIMITS_RESERVED_FDS };
    static const struct {
        uint64_t n_connections, nofile;
        uint32_t least, n_workers;
    } cases[] = {
        {1000, RESERVED + 1000, 1, 1},
        {1001, RESERVED + 1000, 1, 2},
        {2000, RESERVED + 1000, 1, 2},
        {1000, RESERVED + 1000, 4, 4},
        {3, RESERVED + 1000, 4, 3}, /* at least a connection each */
        {0, RESERVED + 1000, 4, 1},
        {10, RESERVED, 1, 10},
        {10, 1, 1, 10},
        {1000000, 20000, 2, 51},
        {1ull << 62, RESERVED + 1, 1, UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (process_limits_workers_for(cases[i].n_connections, cases[i].nofile, cases[i].least) !=
            cases[i].n_workers)
            fail_msg("case %zu", i);
}

static void cpus_must_be_available_to_this_process(void **state)
{
    struct cpulist list;
    char error[CPULIST_ERROR_BYTES] = "";

    (void)state;
    assert_true(process_limits_cpus() >= 1);
    assert_int_equal(process_limits_take_cpus(NULL, &list, error), 0);
    assert_int_equal(list.n, 0);
    assert_int_equal(process_limits_take_cpus("1023", &list, error), -1);
    assert_non_null(strstr(error, "CPU 1023 is not available to this process"));
    assert_int_equal(process_limits_take_cpus("x", &list, error), -1);
    assert_non_null(strstr(error, "expected CPU numbers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_have_room_for_all_connections),
        cmocka_unit_test(cpus_must_be_available_to_this_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
