/* SPDX-License-Identifier: MIT
 * test_arrivals: one sequence of arrivals, however many workers share it. */
#include "workload/arrivals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_CONNECTIONS = 103, N_ARRIVALS = 20000 };

static const struct pacer_segment ramp[] = {{PACER_NEVER - 1, 1000, 1000}};

static struct arrivals_config config_of(enum pacer_arrival arrival, bool random, uint32_t n_workers,
                                        uint32_t worker, const bool *takes)
{
    return (struct arrivals_config){.arrival = arrival,
                                    .segments = ramp,
                                    .n_segments = 1,
                                    .seed = 7,
                                    .random = random,
                                    .n_connections = N_CONNECTIONS,
                                    .n_workers = n_workers,
                                    .worker = worker,
                                    .takes = takes};
}

/* The arrivals of all workers in order of time, each worker generating for itself. */
static void merge(struct arrivals *workers, uint32_t n_workers, const bool *takes, uint64_t *times,
                  uint32_t *connections, uint32_t *takers)
{
    for (int k = 0; k < N_ARRIVALS; k++) {
        uint32_t first = UINT32_MAX;

        for (uint32_t w = 0; w < n_workers; w++)
            if (takes[w] &&
                (first == UINT32_MAX || workers[w].pacer.next_ns < workers[first].pacer.next_ns))
                first = w;
        times[k] = workers[first].pacer.next_ns;
        connections[k] = workers[first].connection;
        takers[k] = first;
        arrivals_advance(&workers[first]);
    }
}

static uint64_t times[2][N_ARRIVALS];
static uint32_t connections[2][N_ARRIVALS], takers[N_ARRIVALS];

static void generate(enum pacer_arrival arrival, bool random, uint32_t n_workers, const bool *takes,
                     int into)
{
    struct arrivals workers[16];

    for (uint32_t w = 0; w < n_workers; w++) {
        const struct arrivals_config config = config_of(arrival, random, n_workers, w, takes);

        if (takes[w])
            arrivals_start(&workers[w], &config, 1000);
    }
    merge(workers, n_workers, takes, times[into], connections[into], takers);
}

static const bool all[16] = {true, true, true, true, true, true, true, true,
                             true, true, true, true, true, true, true, true};

static void the_schedule_is_the_same_for_any_number_of_workers(void **state)
{
    static const uint32_t n_workers[] = {2, 3, 7, 16};

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        generate((enum pacer_arrival)(kind / 2), kind % 2, 1, all, 0);
        for (size_t i = 0; i < 4; i++) {
            generate((enum pacer_arrival)(kind / 2), kind % 2, n_workers[i], all, 1);
            assert_memory_equal(times[0], times[1], sizeof times[0]);
            assert_memory_equal(connections[0], connections[1], sizeof connections[0]);
            for (int k = 0; k < N_ARRIVALS; k++) {
                assert_true(connections[1][k] >=
                            arrivals_first_connection(N_CONNECTIONS, n_workers[i], takers[k]));
                assert_true(connections[1][k] <
                            arrivals_first_connection(N_CONNECTIONS, n_workers[i], takers[k] + 1));
            }
        }
    }
}

/* The control: another seed, another schedule. */
static void another_seed_is_another_schedule(void **state)
{
    struct arrivals_config config = config_of(PACER_POISSON, true, 1, 0, all);
    struct arrivals a, b;
    int n_equal = 0;

    (void)state;
    arrivals_start(&a, &config, 0);
    config.seed = 8;
    arrivals_start(&b, &config, 0);
    for (int k = 0; k < 1000; k++) {
        n_equal += a.pacer.next_ns == b.pacer.next_ns;
        arrivals_advance(&a);
        arrivals_advance(&b);
    }
    assert_in_range(n_equal, 0, 2);
}

/* A worker without a connection takes none: the others take its arrivals, at the same times. */
static void arrivals_of_a_worker_that_takes_none_are_dealt_to_the_others(void **state)
{
    static const bool takes[7] = {true, false, true, true, false, true, true};
    uint32_t n_dealt[7] = {0};

    (void)state;
    generate(PACER_POISSON, true, 7, all, 0);
    generate(PACER_POISSON, true, 7, takes, 1);
    assert_memory_equal(times[0], times[1], sizeof times[0]);
    assert_memory_equal(connections[0], connections[1], sizeof connections[0]);
    for (int k = 0; k < N_ARRIVALS; k++)
        if (connections[1][k] < arrivals_first_connection(N_CONNECTIONS, 7, takers[k]) ||
            connections[1][k] >= arrivals_first_connection(N_CONNECTIONS, 7, takers[k] + 1))
            n_dealt[takers[k]]++;
    for (uint32_t w = 0; w < 7; w++)
        assert_in_range(n_dealt[w], takes[w] ? N_ARRIVALS / 7 * 2 / 5 - 200 : 0,
                        takes[w] ? N_ARRIVALS / 7 * 2 / 5 + 200 : 0);
}

static void round_robin_takes_each_connection_once_in_a_round(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 300; n++) {
        struct arrivals_config config = config_of(PACER_CONSTANT, false, 1, 0, all);
        struct arrivals a;
        bool seen[300] = {false};

        config.n_connections = n;
        arrivals_start(&a, &config, 0);
        for (uint32_t k = 0; k < n; k++, arrivals_advance(&a)) {
            assert_in_range(a.connection, 0, n - 1);
            assert_false(seen[a.connection]);
            seen[a.connection] = true;
        }
        assert_int_equal(a.connection, 0);
    }
}

/* No worker has the whole rate to carry for a while. */
static void round_robin_leaves_no_worker_idle_for_long(void **state)
{
    struct arrivals a[4];
    uint64_t latest[4] = {0};

    (void)state;
    for (uint32_t w = 0; w < 4; w++) {
        const struct arrivals_config config = config_of(PACER_CONSTANT, false, 4, w, all);

        arrivals_start(&a[w], &config, 0);
        for (int k = 0; k < 1000; k++, arrivals_advance(&a[w])) {
            assert_in_range(a[w].pacer.next_ns - latest[w], 0, 9 * 1000000); /* on average 4 ms */
            latest[w] = a[w].pacer.next_ns;
        }
    }
}

static void the_number_of_arrivals_passed_adds_up(void **state)
{
    const struct arrivals_config config = config_of(PACER_CONSTANT, true, 5, 3, all);
    struct arrivals a;
    uint64_t n;

    (void)state;
    n = arrivals_start(&a, &config, 0);
    for (int k = 0; k < 1000; k++, n += arrivals_advance(&a))
        assert_int_equal(a.pacer.next_ns, (n - 1) * 1000000); /* one per millisecond */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schedule_is_the_same_for_any_number_of_workers),
        cmocka_unit_test(another_seed_is_another_schedule),
        cmocka_unit_test(arrivals_of_a_worker_that_takes_none_are_dealt_to_the_others),
        cmocka_unit_test(round_robin_takes_each_connection_once_in_a_round),
        cmocka_unit_test(round_robin_leaves_no_worker_idle_for_long),
        cmocka_unit_test(the_number_of_arrivals_passed_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
