/* SPDX-License-Identifier: MIT
 * test_host_counters: differences between two readings, and reading this host's kernel. */
#include "host/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void pressure_in_another_network_namespace_counts(void **state)
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
    assert_true(fabs(host_counters_steal_percent(&later, &earlier) - 0.5) <= 1e-9);
    assert_true(host_counters_steal_percent(&unknown, &earlier) < 0);
    assert_true(host_counters_steal_percent(&earlier, &earlier) < 0); /* no time has passed */
}

static void everything_is_found_in_this_kernel(void **state)
{
    struct host_counters s;

    (void)state;
    host_counters_read(&s);
    assert_int_not_equal(s.rss_bytes, HOST_COUNTERS_UNKNOWN);
    assert_in_range(s.peak_rss_bytes, s.rss_bytes, HOST_COUNTERS_UNKNOWN - 1);
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

static uint64_t us_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static struct rusage usage(void)
{
    struct rusage now;

    assert_int_equal(getrusage(RUSAGE_SELF, &now), 0);
    return now;
}

/* Computes and sleeps until no figure can be mistaken for another. */
static void become_distinctive(void)
{
    static const struct timespec moment = {.tv_nsec = 1};
    volatile unsigned n = 0;

    while (us_of(usage().ru_utime) < 2 * us_of(usage().ru_stime) + 20000)
        for (unsigned i = 0; i < 1000000; i++)
            n = n + i;
    while (usage().ru_nvcsw < usage().ru_nivcsw + 20)
        nanosleep(&moment, NULL);
}

static void usage_is_that_of_this_process(void **state)
{
    struct rusage before, after;
    struct host_counters s;

    (void)state;
    become_distinctive();
    before = usage();
    host_counters_read(&s);
    after = usage();
    assert_in_range(s.user_us, us_of(before.ru_utime), us_of(after.ru_utime));
    assert_in_range(s.system_us, us_of(before.ru_stime), us_of(after.ru_stime));
    assert_in_range(s.involuntary_switches, (uint64_t)before.ru_nivcsw, (uint64_t)after.ru_nivcsw);
}

/* --- the program that a large process starts --- */

static const size_t large_bytes = (size_t)128 << 20;
static const char small[] = "small";

enum { NEEDS_EMULATOR = 3 }; /* exit code: the kernel cannot run this program by itself */

/* The exit code: 0 if what there was before execve(2) counts for getrusage(2) only. */
static int look_as_small(void)
{
    const uint64_t limit_bytes = large_bytes / 2;
    struct host_counters s;

    host_counters_read(&s);
    return s.peak_rss_bytes < limit_bytes && (uint64_t)usage().ru_maxrss * 1024 > limit_bytes ? 0
                                                                                              : 1;
}

static void peak_is_not_that_of_the_program_before(void **state)
{
    const pid_t child = fork();
    int status = -1;

    (void)state;
    if (child == 0) {
        if (mmap(NULL, large_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) != MAP_FAILED)
            execl("/proc/self/exe", small, small, (char *)NULL);
        _exit(errno == ENOEXEC ? NEEDS_EMULATOR : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NEEDS_EMULATOR) /* with qemu-user */
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void memory_that_is_only_reserved_is_not_resident(void **state)
{
    const size_t n_bytes = (size_t)1 << 30;
    struct host_counters s;
    void *reserved = mmap(NULL, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(reserved != MAP_FAILED);
    host_counters_read(&s);
    munmap(reserved, n_bytes);
    assert_in_range(s.rss_bytes, 1, n_bytes - 1);
}

/* The ticks of all CPUs, and those stolen from them; see proc_stat(5). */
static uint64_t ticks(uint64_t *stolen)
{
    FILE *f = fopen("/proc/stat", "re");
    uint64_t t[8], all = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f,
                            "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                            " %" SCNu64 " %" SCNu64 " %" SCNu64,
                            &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]),
                     8);
    fclose(f);
    *stolen = t[7];
    for (int i = 0; i < 8; i++)
        all += t[i];
    return all;
}

static void ticks_are_those_of_all_cpus(void **state)
{
    uint64_t stolen_before, stolen_after;
    const uint64_t before = ticks(&stolen_before);
    struct host_counters s;

    (void)state;
    host_counters_read(&s);
    assert_in_range(s.cpu_ticks, before, ticks(&stolen_after));
    assert_in_range(s.steal_ticks, stolen_before, stolen_after);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference_with_an_unknown_is_unknown),
        cmocka_unit_test(pressure_that_began_before_counts),
        cmocka_unit_test(pressure_in_another_network_namespace_counts),
        cmocka_unit_test(steal_is_a_part_of_all_cpu_time),
        cmocka_unit_test(everything_is_found_in_this_kernel),
        cmocka_unit_test(usage_is_that_of_this_process),
        cmocka_unit_test(peak_is_not_that_of_the_program_before),
        cmocka_unit_test(memory_that_is_only_reserved_is_not_resident),
        cmocka_unit_test(ticks_are_those_of_all_cpus),
    };

    if (argc > 1 && strcmp(argv[1], small) == 0)
        return look_as_small();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
