/* SPDX-License-Identifier: MIT
 * test_meminfo: how much of the machine's memory is available. */
#include "host/meminfo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define KIB 1024ull

static const char full_of_sockets[] = "MemTotal:       24684096 kB\n"
                                      "MemFree:         1000000 kB\n"
                                      "MemAvailable:    6000000 kB\n"
                                      "Active(file):      70000 kB\n"
                                      "Inactive(file):   101000 kB\n"
                                      "Dirty:             25000 kB\n"
                                      "Writeback:          1000 kB\n"
                                      "Mapped:            27000 kB\n"
                                      "Shmem:              8788 kB\n"
                                      "Slab:           21000000 kB\n"
                                      "SReclaimable:    5000000 kB\n";

static const char zones[] = "Node 0, zone      DMA\n"
                            "  pages free     3840\n"
                            "        min      28\n"
                            "        high     42\n"
                            "        managed  3840\n"
                            "        protection: (0, 3019, 8907, 8907)\n"
                            "Node 0, zone    DMA32\n"
                            "        high     8575\n"
                            "        managed  772918\n"
                            "        protection: (0, 0, 5888, 5888)\n"
                            "  pagesets\n"
                            "    cpu: 0\n"
                            "              high:     1000\n"
                            "              high_min: 17\n"
                            "Node 0, zone   Normal\n"
                            "        high     16724\n"
                            "        managed  1507328\n"
                            "        protection: (0, 0, 0, 0)\n";

static void slab_of_sockets_does_not_count_as_available(void **state)
{
    struct meminfo m;

    (void)state;
    meminfo_parse(&m, full_of_sockets);
    assert_int_equal(m.total_bytes, 24684096 * KIB);
    assert_int_equal(m.cache_bytes, (70000 + 101000 - 25000 - 1000 - 27000) * KIB);
    assert_int_equal(meminfo_left(&m, 0), 1118000 * KIB);
    assert_int_equal(meminfo_left(&m, 1000 * KIB), 1117000 * KIB);
    assert_int_equal(meminfo_left(&m, 1118000 * KIB + 1), 0);
}

static void zones_keep_their_watermarks_and_what_they_protect(void **state)
{
    (void)state;
    assert_int_equal(meminfo_reserve_bytes(zones, 4096), (3840 + (8575 + 5888) + 16724) * 4096ull);
    assert_int_equal(meminfo_reserve_bytes("", 4096), 0);
}

static void what_is_missing_is_unknown(void **state)
{
    struct meminfo m;

    (void)state;
    meminfo_parse(&m, "MemTotal: 5 kB\n");
    assert_true(m.free_bytes == MEMINFO_UNKNOWN);
    assert_true(meminfo_left(&m, 0) == MEMINFO_UNKNOWN);
    meminfo_parse(&m, "MemFree: 5 kB\nActive(file): 3 kB\nMapped: 4 kB");
    assert_int_equal(meminfo_left(&m, 0), 5 * KIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slab_of_sockets_does_not_count_as_available),
        cmocka_unit_test(zones_keep_their_watermarks_and_what_they_protect),
        cmocka_unit_test(what_is_missing_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
