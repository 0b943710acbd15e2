/* SPDX-License-Identifier: MIT
 * test_plan_threads: the number of threads, and how they wait. */
#include "client/plan_threads.h"

#include "host/process_limits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_CPUS = 8, MANY_FDS = 1000000 };

static struct client_config config;
static struct client_opts opts;

static void load(uint32_t n_connections, double rate_qps)
{
    opts = (struct client_opts){0};
    config = (struct client_config){
        .n_connections = n_connections, .n_at_begin = n_connections, .own_fd_tables = true};
    schedule_constant(&config.schedule, PACER_NEVER, rate_qps);
}

static uint32_t threads(uint64_t nofile)
{
    client_plan_threads(&config, &opts, N_CPUS, nofile);
    return config.n_workers;
}

static void threads_grow_with_the_load_up_to_one_per_cpu(void **state)
{
    static const struct {
        uint32_t n_connections;
        double rate_qps;
        uint32_t n_threads;
    } cases[] = {
        {10000, 0, 1},     {10000, 24999, 1}, {10000, 25000, 2},  {10001, 0, 2},
        {10001, 75000, 4}, {10000, 1e9, 8},   {200000, 25000, 8}, {3, 1e9, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load(cases[i].n_connections, cases[i].rate_qps);
        if (threads(MANY_FDS) != cases[i].n_threads)
            fail_msg("case %zu: %u threads", i, config.n_workers);
    }
}

static void an_unknown_load_has_a_thread_per_cpu(void **state)
{
    (void)state;
    load(100, 1);
    opts.control = "unix:x";
    assert_int_equal(threads(MANY_FDS), N_CPUS);
    load(100, 1);
    config.queries_per_conn = 1;
    assert_int_equal(threads(MANY_FDS), N_CPUS);
    load(100, 1);
    opts.on_demand = true;
    assert_int_equal(threads(MANY_FDS), N_CPUS);
    load(100, 1);
    opts.loop = CLIENT_LOOP_CLOSED;
    assert_int_equal(threads(MANY_FDS), N_CPUS);
    load(100, 1);
    config.listens = true;
    assert_int_equal(threads(MANY_FDS), N_CPUS);
    load(100, 1);
    config.conn_per_query = true;
    assert_int_equal(threads(MANY_FDS), N_CPUS);
}

static void each_cpu_given_has_a_thread(void **state)
{
    (void)state;
    load(100, 1);
    config.cpus.n = 3;
    assert_int_equal(threads(MANY_FDS), 3);
}

static void a_number_of_threads_given_is_kept(void **state)
{
    (void)state;
    load(100, 1);
    opts.threads = 5;
    config.cpus.n = 3;
    assert_int_equal(threads(MANY_FDS), 5);
    assert_int_equal(threads(1), 5);
}

static void tables_of_file_descriptors_need_their_threads(void **state)
{
    enum { ROOM = 100 };

    (void)state;
    load(1000, 1);
    assert_int_equal(threads(PROCESS_LIMITS_RESERVED_FDS + ROOM), 10);
    config.own_fd_tables = false; /* more threads would not help */
    assert_int_equal(threads(PROCESS_LIMITS_RESERVED_FDS + ROOM), 1);
}

static void connections_that_come_later_need_no_thread_now(void **state)
{
    (void)state;
    load(1000, 1e9);
    config.n_at_begin = 2;
    assert_int_equal(threads(MANY_FDS), 2);
}

static int pace(int requested, uint32_t n_workers, bool target_is_here)
{
    opts = (struct client_opts){.pace = requested};
    config = (struct client_config){.n_workers = n_workers, .target_is_here = target_is_here};
    client_plan_pace(&config, &opts, N_CPUS);
    return config.pace;
}

static void threads_wait_busily_only_on_cpus_that_are_left(void **state)
{
    (void)state;
    assert_int_equal(pace(CLIENT_PACE_AUTO, N_CPUS - 1, false), CLIENT_PACE_HYBRID);
    assert_true(config.waiting_share == 1);
    assert_int_equal(pace(CLIENT_PACE_AUTO, N_CPUS, false), CLIENT_PACE_HYBRID);
    assert_true(config.waiting_share == 0.05);
    assert_int_equal(pace(CLIENT_PACE_AUTO, N_CPUS, true), CLIENT_PACE_HYBRID);
    assert_true(config.waiting_share == 0.02);
}

/* 53 threads on 2 CPUs with 0.02 of one each took all of a CPU. */
static void more_threads_than_cpus_share_the_time_for_waiting(void **state)
{
    (void)state;
    (void)pace(CLIENT_PACE_AUTO, 10 * N_CPUS, true);
    assert_true(fabs(config.waiting_share - 0.002) < 1e-12);
}

static void a_pace_given_is_kept(void **state)
{
    (void)state;
    assert_int_equal(pace(CLIENT_PACE_SLEEP, 1, true), CLIENT_PACE_SLEEP);
    assert_true(config.waiting_share == 0);
    assert_int_equal(pace(CLIENT_PACE_SPIN, N_CPUS, true), CLIENT_PACE_SPIN);
    assert_true(config.waiting_share == 1);
    opts.busy_poll = true;
    opts.pace = CLIENT_PACE_AUTO;
    client_plan_pace(&config, &opts, N_CPUS);
    assert_int_equal(config.pace, CLIENT_PACE_SPIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_grow_with_the_load_up_to_one_per_cpu),
        cmocka_unit_test(an_unknown_load_has_a_thread_per_cpu),
        cmocka_unit_test(each_cpu_given_has_a_thread),
        cmocka_unit_test(a_number_of_threads_given_is_kept),
        cmocka_unit_test(tables_of_file_descriptors_need_their_threads),
        cmocka_unit_test(connections_that_come_later_need_no_thread_now),
        cmocka_unit_test(threads_wait_busily_only_on_cpus_that_are_left),
        cmocka_unit_test(more_threads_than_cpus_share_the_time_for_waiting),
        cmocka_unit_test(a_pace_given_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
