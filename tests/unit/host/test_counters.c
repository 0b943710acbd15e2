/* SPDX-License-Identifier: MIT
 * test_host_counters: differences between two readings, and reading this host's kernel. */
#include "host/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void difference_with_an_unknown_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(host_counters_delta(7, 5), 2);
    assert_int_equal(host_counters_delta(HOST_COUNTERS_UNKNOWN, 5), HOST_COUNTERS_UNKNOWN);
    assert_int_equal(host_counters_delta(7, HOST_COUNTERS_UNKNOWN), HOST_COUNTERS_UNKNOWN);
    assert_int_equal(host_counters_delta(5, 7), HOST_COUNTERS_UNKNOWN);
}

static void pressure_that_began_before_counts(void **state)
{
    struct host_counters later = {.tcp_memory_pressures = 7};
    struct host_counters earlier = {.tcp_memory_pressures = 7};

    (void)state;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), 0);
    earlier.tcp_memory_is_short = 1;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), 1);
    earlier.tcp_memory_pressures = 5;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), 3);
    earlier.tcp_memory_is_short = HOST_COUNTERS_UNKNOWN;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), HOST_COUNTERS_UNKNOWN);
}

static void pressure_that_no_counter_of_ours_has_counts(void **state)
{
    const struct host_counters later = {.tcp_memory_pressures = 7, .tcp_memory_is_short = 1};
    struct host_counters earlier = {.tcp_memory_pressures = 7};

    (void)state;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), 1);
    earlier.tcp_memory_pressures = 6;
    assert_int_equal(host_counters_memory_pressures(&later, &earlier), 1);
}

static void steal_is_a_part_of_all_cpu_time(void **state)
{
    const struct host_counters earlier = {.cpu_ticks = 1000, .steal_ticks = 10};
    const struct host_counters later = {.cpu_ticks = 1200, .steal_ticks = 11};
    const struct host_counters unknown = {.cpu_ticks = 1200, .steal_ticks = HOST_COUNTERS_UNKNOWN};

    (void)state;
    assert_float_equal(host_counters_steal_percent(&later, &earlier), 0.5, 1e-9);
    assert_true(host_counters_steal_percent(&unknown, &earlier) < 0);
    assert_true(host_counters_steal_percent(&earlier, &earlier) < 0); /* no time has passed */
}

static void everything_is_found_in_this_kernel(void **state)
{
    struct host_counters s;

    (void)state;
    host_counters_read(&s);
    assert_int_not_equal(s.rss_bytes, HOST_COUNTERS_UNKNOWN);
    assert_in_range(s.peak_rss_bytes, 1, HOST_COUNTERS_UNKNOWN - 1);
    assert_in_range(s.cpu_ticks, 1, HOST_COUNTERS_UNKNOWN - 1);
    assert_int_not_equal(s.steal_ticks, HOST_COUNTERS_UNKNOWN);
    assert_int_not_equal(s.retransmits, HOST_COUNTERS_UNKNOWN);
    assert_int_not_equal(s.listen_overflows, HOST_COUNTERS_UNKNOWN);
    assert_int_not_equal(s.listen_drops, HOST_COUNTERS_UNKNOWN);
    assert_in_range(s.slab_bytes, 1, HOST_COUNTERS_UNKNOWN - 1);
    assert_int_not_equal(s.tcp_memory_bytes, HOST_COUNTERS_UNKNOWN);
    assert_int_not_equal(s.tcp_memory_pressures, HOST_COUNTERS_UNKNOWN);
    assert_in_range(s.tcp_memory_is_short, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference_with_an_unknown_is_unknown),
        cmocka_unit_test(pressure_that_began_before_counts),
        cmocka_unit_test(pressure_that_no_counter_of_ours_has_counts),
        cmocka_unit_test(steal_is_a_part_of_all_cpu_time),
        cmocka_unit_test(everything_is_found_in_this_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
