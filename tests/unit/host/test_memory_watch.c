/* SPDX-License-Identifier: MIT
 * test_memory_watch: connections are granted from the memory that files in a temporary directory
 * report. */
#include "host/memory_watch.h"

#include "watch/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1024ull * 1024)

static const struct memory_ends server = {.server_connections = 1};
/* Of it: memory_model.c. */
#define MACHINE_EACH (4080ull + 75)
#define CGROUP_EACH  (3992ull + 75)

static struct memory_watch watch;

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tree_put(name, text);
}

static void put_free(uint64_t bytes)
{
    put("meminfo", "MemTotal: %llu kB\nMemFree: %llu kB\n", 32768ull * 1024,
        (unsigned long long)bytes / 1024);
}

static int end_watch(void **state)
{
    memory_watch_end(&watch);
    return remove_tree(state);
}

static void start(enum memory_watch_reserve part)
{
    memory_watch_start(&watch, directory, &server, part);
}

static uint64_t take_all(void)
{
    uint64_t n = 0;

    while (memory_watch_take(&watch))
        n++;
    return n;
}

static void half_of_what_is_above_the_reserve_is_granted(void **state)
{
    (void)state;
    put_free(256 * MIB + 2000 * MACHINE_EACH + 2048);
    start(MEMORY_WATCH_OF_SERVER); /* 32 GiB / 128 */
    assert_int_equal(take_all(), 1000);
    assert_false(memory_watch_is_short(&watch));
    put_free(256 * MIB + 1000 * MACHINE_EACH + 2048);
    memory_watch_look(&watch);
    assert_int_equal(take_all(), 500);
}

static void what_threads_have_not_touched_yet_is_kept_for_them(void **state)
{
    static const struct memory_ends ends = {.server_connections = 1, .server_threads = 8};
    const uint64_t of_threads = memory_model_program_bytes(&ends);

    (void)state;
    assert_true(of_threads > memory_model_program_bytes(&server));
    put_free(256 * MIB + of_threads + 200 * MACHINE_EACH + 2048);
    memory_watch_start(&watch, directory, &ends, MEMORY_WATCH_OF_SERVER);
    assert_int_equal(take_all(), 100);
}

static void client_keeps_twice_the_reserve_of_the_server(void **state)
{
    (void)state;
    put_free(500 * MIB);
    start(MEMORY_WATCH_OF_CLIENT);
    assert_true(memory_watch_is_short(&watch));
    memory_watch_end(&watch);
    start(MEMORY_WATCH_OF_SERVER);
    assert_false(memory_watch_is_short(&watch));
}

static void at_the_reserve_memory_is_short_until_there_is_ample(void **state)
{
    (void)state;
    put_free(256 * MIB + 60 * MACHINE_EACH);
    start(MEMORY_WATCH_OF_SERVER);
    assert_true(memory_watch_is_short(&watch));
    assert_false(memory_watch_take(&watch));
    put_free(256 * MIB + 2000 * MACHINE_EACH); /* as if a few connections had ended */
    memory_watch_look(&watch);
    assert_true(memory_watch_is_short(&watch));
    put_free(256 * MIB + 4000 * MACHINE_EACH);
    memory_watch_look(&watch);
    assert_false(memory_watch_is_short(&watch));
    assert_true(memory_watch_take(&watch));
    assert_true(memory_watch_was_short(&watch));
}

static void memory_that_is_given_back_can_be_taken_again(void **state)
{
    (void)state;
    put_free(256 * MIB + 200 * MACHINE_EACH + 2048);
    start(MEMORY_WATCH_OF_SERVER);
    assert_int_equal(take_all(), 100);
    assert_false(memory_watch_take(&watch)); /* two requests were refused */
    for (int i = 0; i < 3; i++)
        memory_watch_give_back(&watch);
    assert_true(memory_watch_take(&watch));
    assert_false(memory_watch_take(&watch));
}

static void checks_without_new_connections_are_skipped(void **state)
{
    int n_looks = 0;

    (void)state;
    put_free(16384 * MIB);
    start(MEMORY_WATCH_OF_SERVER);
    put_free(0);
    for (; !memory_watch_is_short(&watch); n_looks++)
        memory_watch_look(&watch);
    assert_in_range(n_looks, 10, 100);
    memory_watch_end(&watch);
    put_free(16384 * MIB);
    start(MEMORY_WATCH_OF_SERVER);
    assert_true(memory_watch_take(&watch));
    put_free(0);
    memory_watch_look(&watch);
    assert_true(memory_watch_is_short(&watch));
}

static void the_limit_of_a_cgroup_is_named_if_it_is_reached_first(void **state)
{
    char text[256];

    (void)state;
    put_free(16384 * MIB);
    put("self/cgroup", "0::/\n");
    put("self/mountinfo", "41 31 0:38 / %s rw - cgroup2 cgroup2 rw\n", directory);
    put("memory.max", "%llu\n", 64 * MIB);
    put("memory.current", "%llu\n", 10 * MIB);
    put("memory.stat", "inactive_file 0\n");
    start(MEMORY_WATCH_OF_SERVER);
    assert_int_equal(take_all(), 50 * MIB / 2 / CGROUP_EACH); /* 512 MiB / 128 are kept */
    put("memory.current", "%llu\n", 60 * MIB);
    memory_watch_look(&watch);
    assert_true(memory_watch_is_short(&watch));
    memory_shortage_text(&watch.tightest, text, sizeof text);
    assert_non_null(strstr(text, "4.00 MiB of 64.0 MiB left ("));
    assert_non_null(strstr(text, "memory.max)"));
    /* The page cache would be dropped first. */
    put("memory.stat", "inactive_file %llu\n", 20 * MIB);
    memory_watch_look(&watch);
    assert_false(memory_watch_is_short(&watch));
}

static void the_machine_is_named_if_its_memory_is_short_first(void **state)
{
    char text[256];

    (void)state;
    put_free(16384 * MIB);
    put("self/cgroup", "0::/\n");
    put("self/mountinfo", "41 31 0:38 / %s rw - cgroup2 cgroup2 rw\n", directory);
    put("memory.max", "%llu\n", 65536 * MIB);
    put("memory.current", "%llu\n", 10 * MIB);
    put("memory.stat", "inactive_file 0\n");
    start(MEMORY_WATCH_OF_SERVER);
    assert_false(memory_watch_was_short(&watch));
    (void)memory_watch_take(&watch);
    put_free(100 * MIB);
    memory_watch_look(&watch);
    assert_true(memory_watch_was_short(&watch));
    memory_shortage_text(&watch.tightest, text, sizeof text);
    assert_string_equal(text,
                        "100 MiB of 32.0 GiB left (this machine), 256 MiB of it kept in reserve");
}

/* The kernel keeps them for itself. */
static void pages_below_the_watermarks_are_not_left(void **state)
{
    (void)state;
    put("zoneinfo", "Node 0, zone   Normal\n        high     1024\n        managed  2097152\n"
                    "        protection: (0, 0)\n");
    put_free(256 * MIB + 1024 * (uint64_t)sysconf(_SC_PAGESIZE) + 200 * MACHINE_EACH + 2048);
    start(MEMORY_WATCH_OF_SERVER);
    assert_int_equal(take_all(), 100);
}

static uint64_t refuse_all(void)
{
    uint64_t n = 0;

    while (memory_watch_take_refusal(&watch))
        n++;
    return n;
}

/* Refusals use the reserve, too: the kernel frees their memory late. */
static void refused_connections_take_at_most_half_of_what_is_left(void **state)
{
    (void)state;
    put_free(256 * MIB + 200 * MACHINE_EACH);
    start(MEMORY_WATCH_OF_SERVER);
    assert_int_equal(refuse_all(), 0); /* memory is not short */
    put_free(200 * MACHINE_EACH + 2048);
    memory_watch_look(&watch);
    (void)take_all();
    memory_watch_look(&watch);
    assert_int_equal(refuse_all(), 100);
    put_free(100 * MACHINE_EACH + 2048);
    memory_watch_look(&watch);
    assert_int_equal(refuse_all(), 50);
    put_free(0);
    memory_watch_look(&watch);
    assert_int_equal(refuse_all(), 1);
}

static void what_is_not_known_is_granted(void **state)
{
    (void)state;
    start(MEMORY_WATCH_OF_CLIENT);
    for (int i = 0; i < 1000; i++)
        assert_true(memory_watch_take(&watch));
    memory_watch_look(&watch);
    assert_false(memory_watch_is_short(&watch));
}

#define IN_TOP(test) cmocka_unit_test_setup_teardown(test, make_directory, end_watch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TOP(half_of_what_is_above_the_reserve_is_granted),
        IN_TOP(what_threads_have_not_touched_yet_is_kept_for_them),
        IN_TOP(client_keeps_twice_the_reserve_of_the_server),
        IN_TOP(at_the_reserve_memory_is_short_until_there_is_ample),
        IN_TOP(memory_that_is_given_back_can_be_taken_again),
        IN_TOP(checks_without_new_connections_are_skipped),
        IN_TOP(the_limit_of_a_cgroup_is_named_if_it_is_reached_first),
        IN_TOP(the_machine_is_named_if_its_memory_is_short_first),
        IN_TOP(pages_below_the_watermarks_are_not_left),
        IN_TOP(refused_connections_take_at_most_half_of_what_is_left),
        IN_TOP(what_is_not_known_is_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
