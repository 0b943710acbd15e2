/* SPDX-License-Identifier: MIT
 * test_process_limits: how many workers connections need, and CPUs of this process. */
#include "host/process_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

/* Threads that share a table of fds leave room for each other's. */
static void fds_are_reserved_for_threads_that_share_a_table(void **state)
{
    (void)state;
    assert_int_equal(process_limits_reserved_fds(true, 8), PROCESS_LIMITS_RESERVED_FDS);
    assert_int_equal(process_limits_reserved_fds(false, 8),
                     PROCESS_LIMITS_RESERVED_FDS + 8 * PROCESS_LIMITS_THREAD_FDS);
}

static void descriptors_are_limited_by_the_hard_limit_and_by_the_system(void **state)
{
    static const struct {
        struct rlimit now;
        uint64_t nr_open, most;
    } cases[] = {
        {{1024, 20000}, 1048576, 20000},           {{20000, 20000}, UINT64_MAX, 20000},
        {{1024, 1048576}, 20000, 20000},           {{1048576, 1048576}, 20000, 20000},
        {{1024, RLIM_INFINITY}, 1048576, 1048576},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct rlimit most = process_limits_most_nofile(&cases[i].now, cases[i].nr_open);

        if (most.rlim_cur != cases[i].most || most.rlim_max != cases[i].most)
            fail_msg("case %zu", i);
    }
}

static void cpus_must_be_available_to_this_process(void **state)
{
    struct cpulist list;
    char error[CPULIST_ERROR_BYTES] = "";

    (void)state;
    assert_true(process_limits_cpus() >= 1);
    assert_int_equal(process_limits_parse_cpus(NULL, &list, error), 0);
    assert_int_equal(list.n, 0);
    assert_int_equal(process_limits_parse_cpus("1023", &list, error), -1);
    assert_non_null(strstr(error, "CPU 1023 is not available to this process"));
    assert_int_equal(process_limits_parse_cpus("x", &list, error), -1);
    assert_non_null(strstr(error, "expected CPU numbers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_have_room_for_all_connections),
        cmocka_unit_test(fds_are_reserved_for_threads_that_share_a_table),
        cmocka_unit_test(descriptors_are_limited_by_the_hard_limit_and_by_the_system),
        cmocka_unit_test(cpus_must_be_available_to_this_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
