/* SPDX-License-Identifier: MIT
 * test_pacer: exact grids, Poisson gaps, and workers that share a schedule. */
#include "pacer_steps.h"

#include "workload/pacer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_CONNECTIONS = 10, N_WORKERS = 3, N_GAPS = 100000 };

static struct pacer_config shared_of(enum pacer_arrival arrival,
                                     const struct pacer_segment *segment, uint32_t worker)
{
    struct pacer_config c = config_of(arrival, segment, 1);

    c.n_connections = N_CONNECTIONS;
    c.n_workers = N_WORKERS;
    c.worker = worker;
    return c;
}

static void a_schedule_that_begins_at_none_may_begin_with_its_second_arrival(void **state)
{
    static const struct pacer_segment ramp = {
        .duration_ns = S, .rate_begin_qps = 0, .rate_end_qps = 200};
    struct pacer_config c = config_of(PACER_CONSTANT, &ramp, 1);
    struct pacer p;

    (void)state;
    pacer_start(&p, &c, START);
    assert_int_equal(p.next_ns, START);
    assert_int_equal(count_between(&c, 0, S), 100);
    c.none_at_start = true;
    pacer_start(&p, &c, START);
    assert_int_equal(p.next_ns, START + S / 10); /* 100 x^2 = 1 */
    assert_int_equal(count_between(&c, 0, S), 99);
}

static void an_arrival_after_the_start_is_not_left_out(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1000, 1000};

    (void)state;
    for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
        struct pacer_config c = shared_of((enum pacer_arrival)arrival, &segment, 1);
        struct pacer p, q;

        pacer_start(&p, &c, START);
        c.none_at_start = true;
        pacer_start(&q, &c, START);
        assert_int_equal(p.next_ns, q.next_ns);
    }
}

static void connections_are_dealt_without_losing_the_remainder(void **state)
{
    static const uint32_t totals[] = {1, 2, 7, 10, 63, 64, 65, 1000, 1048577, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        for (uint32_t n_workers = 1; n_workers <= 64 && n_workers <= totals[i]; n_workers++) {
            uint64_t sum = 0;

            for (uint32_t w = 0; w < n_workers; w++) {
                uint32_t n = pacer_connections_of(totals[i], n_workers, w);

                assert_int_equal(n, totals[i] / n_workers + (w < totals[i] % n_workers ? 1 : 0));
                sum += n;
            }
            assert_int_equal(sum, totals[i]);
        }
    }
}

static void constant_workers_together_make_the_exact_grid(void **state)
{
    static const double rates[] = {1000, 3, 7, 64000, 99999};

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const struct pacer_segment segment = {10 * S, rates[i], rates[i]};
        const uint64_t n_expected = (uint64_t)rates[i] * 10;
        uint8_t *seen = calloc(n_expected, 1);

        assert_non_null(seen);
        for (uint32_t w = 0; w < N_WORKERS; w++) {
            const struct pacer_config c = shared_of(PACER_CONSTANT, &segment, w);
            struct pacer p;

            for (pacer_start(&p, &c, START); p.next_ns != PACER_NEVER; pacer_advance(&p)) {
                double ns = (double)(p.next_ns - START);
                uint64_t k = (uint64_t)llround(ns * rates[i] / 1e9);

                assert_true(k < n_expected);
                assert_true(fabs(ns - (double)k * 1e9 / rates[i]) <= 1);
                assert_int_equal(seen[k]++, 0);
            }
        }
        for (uint64_t k = 0; k < n_expected; k++)
            assert_int_equal(seen[k], 1);
        free(seen);
    }
}

static void round_robin_gives_each_connection_the_same_period(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1000, 1000};

    (void)state;
    for (uint32_t w = 0; w < N_WORKERS; w++) {
        const struct pacer_config c = shared_of(PACER_CONSTANT, &segment, w);
        const uint32_t n = pacer_connections_of(N_CONNECTIONS, N_WORKERS, w);
        uint64_t last[N_CONNECTIONS] = {0};
        struct pacer p;

        pacer_start(&p, &c, START);
        for (uint32_t i = 0; i < 100 * n; i++, pacer_advance(&p)) {
            if (i < n)
                assert_int_equal(p.next_ns, START + (w + i * N_WORKERS) * 1000000ull);
            else
                assert_int_equal(p.next_ns - last[i % n], N_CONNECTIONS * 1000000ull);
            last[i % n] = p.next_ns;
        }
    }
}

static void an_endless_schedule_does_not_drift(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1e6, 1e6};
    const struct pacer_config c = config_of(PACER_CONSTANT, &segment, 1);
    struct pacer p;

    (void)state;
    pacer_start(&p, &c, START);
    for (uint64_t k = 0; k < 3000000; k++, pacer_advance(&p))
        assert_int_equal(p.next_ns, START + k * 1000);
}

/* 3,000 years are more than there are nanoseconds. */
static void an_arrival_beyond_the_end_of_time_never_comes(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1e-11, 1e-11};
    const struct pacer_config c = config_of(PACER_CONSTANT, &segment, 1);
    struct pacer p;

    (void)state;
    pacer_start(&p, &c, START);
    assert_int_equal(p.next_ns, START);
    pacer_advance(&p);
    assert_int_equal(p.next_ns, PACER_NEVER);
}

static void poisson_rates_of_the_workers_sum_to_the_rate(void **state)
{
    static const struct pacer_segment segment = {10 * S, 1e5, 1e5};
    double sum = 0;

    (void)state;
    for (uint32_t w = 0; w < N_WORKERS; w++) {
        const struct pacer_config c = shared_of(PACER_POISSON, &segment, w);
        const double expected = 1e5 * pacer_connections_of(N_CONNECTIONS, N_WORKERS, w);
        const double n = count_between(&c, 0, 10 * S);

        assert_true(fabs(n - expected) < 0.01 * expected);
        sum += n;
    }
    assert_true(fabs(sum - 1e6) < 5e3);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov's D of sorted values against the exponential distribution. */
static double distance_from_exponential(const double *sorted, size_t n, double mean)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        const double f = 1 - exp(-sorted[i] / mean);

        most = fmax(most, fmax((double)(i + 1) / (double)n - f, f - (double)i / (double)n));
    }
    return most;
}

static void poisson_gaps_are_exponential(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1e4, 1e4};
    double *gaps = calloc(N_GAPS, sizeof *gaps);

    (void)state;
    assert_non_null(gaps);
    for (uint32_t w = 0; w < N_WORKERS; w++) {
        const struct pacer_config c = shared_of(PACER_POISSON, &segment, w);
        const double expected =
            1e9 / (1e4 * pacer_connections_of(N_CONNECTIONS, N_WORKERS, w) / N_CONNECTIONS);
        double mean = 0, variance = 0;
        uint64_t before = START;
        struct pacer p;

        pacer_start(&p, &c, START);
        for (size_t i = 0; i < N_GAPS; i++, pacer_advance(&p)) {
            gaps[i] = (double)(p.next_ns - before);
            before = p.next_ns;
            mean += gaps[i] / N_GAPS;
        }
        for (size_t i = 0; i < N_GAPS; i++)
            variance += (gaps[i] - mean) * (gaps[i] - mean) / (N_GAPS - 1);
        assert_true(fabs(mean - expected) < 0.01 * expected);
        assert_true(fabs(variance / (mean * mean) - 1) < 0.03);
        qsort(gaps, N_GAPS, sizeof *gaps, compare_doubles);
        assert_true(distance_from_exponential(gaps, N_GAPS, expected) < 1.63 / sqrt(N_GAPS));
    }
    free(gaps);
}

/* Returns how many of the first 1,000 arrivals of two schedules differ. */
static unsigned count_different(const struct pacer_config *a, const struct pacer_config *b)
{
    struct pacer p, q;
    unsigned n = 0;

    pacer_start(&p, a, START);
    pacer_start(&q, b, START);
    for (int i = 0; i < 1000; i++, pacer_advance(&p), pacer_advance(&q))
        n += p.next_ns != q.next_ns;
    return n;
}

static void a_seed_and_a_worker_determine_the_poisson_schedule(void **state)
{
    static const struct pacer_segment segment = {PACER_NEVER, 1e4, 1e4};
    const struct pacer_config first = shared_of(PACER_POISSON, &segment, 1);
    const struct pacer_config other_worker = shared_of(PACER_POISSON, &segment, 2);
    struct pacer_config other_seed = first;

    (void)state;
    other_seed.seed++;
    assert_int_equal(count_different(&first, &first), 0);
    assert_true(count_different(&first, &other_seed) > 990);
    assert_true(count_different(&first, &other_worker) > 990);
}

static void the_start_only_shifts_a_schedule(void **state)
{
    static const struct pacer_segment segments[] = {{S, 100, 5000}, {S, 5000, 0}};

    (void)state;
    for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
        const struct pacer_config c = config_of((enum pacer_arrival)arrival, segments, 2);
        struct pacer p, q;
        unsigned n = 0;

        pacer_start(&p, &c, START);
        pacer_start(&q, &c, 1);
        for (; p.next_ns != PACER_NEVER; pacer_advance(&p), pacer_advance(&q), n++)
            assert_int_equal(p.next_ns - START, q.next_ns - 1);
        assert_int_equal(q.next_ns, PACER_NEVER);
        assert_true(n > 4500);
    }
}

/* The arrivals of a part are those of a schedule with that part of the rates. */
static void parts_of_a_schedule_are_schedules_of_their_own(void **state)
{
    static const struct pacer_segment whole[] = {{S, 0, 1000}, {S, 1000, 1000}, {S, 1000, 200}};
    static const double parts[] = {0.7, 0.25, 0.05};
    unsigned n_all = 0;

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct pacer_segment scaled[3];

        for (int k = 0; k < 3; k++)
            scaled[k] =
                (struct pacer_segment){whole[k].duration_ns, whole[k].rate_begin_qps * parts[i],
                                       whole[k].rate_end_qps * parts[i]};
        for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
            const struct pacer_config of_its_own =
                config_of((enum pacer_arrival)arrival, scaled, 3);
            struct pacer_config c = config_of((enum pacer_arrival)arrival, whole, 3);
            struct pacer p, q;

            c.part = parts[i];
            pacer_start(&p, &c, START);
            for (pacer_start(&q, &of_its_own, START); q.next_ns != PACER_NEVER;
                 pacer_advance(&p), pacer_advance(&q)) {
                assert_in_range(p.next_ns + 1 - q.next_ns, 0, 2);
                n_all += arrival == PACER_CONSTANT;
            }
            assert_int_equal(p.next_ns, PACER_NEVER);
        }
    }
    assert_in_range(n_all, 2100, 2102); /* each part begins with an arrival at the start */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_that_begins_at_none_may_begin_with_its_second_arrival),
        cmocka_unit_test(an_arrival_after_the_start_is_not_left_out),
        cmocka_unit_test(connections_are_dealt_without_losing_the_remainder),
        cmocka_unit_test(constant_workers_together_make_the_exact_grid),
        cmocka_unit_test(round_robin_gives_each_connection_the_same_period),
        cmocka_unit_test(an_endless_schedule_does_not_drift),
        cmocka_unit_test(an_arrival_beyond_the_end_of_time_never_comes),
        cmocka_unit_test(poisson_rates_of_the_workers_sum_to_the_rate),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(a_seed_and_a_worker_determine_the_poisson_schedule),
        cmocka_unit_test(the_start_only_shifts_a_schedule),
        cmocka_unit_test(parts_of_a_schedule_are_schedules_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
