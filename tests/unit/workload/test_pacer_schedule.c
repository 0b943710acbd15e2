/* SPDX-License-Identifier: MIT
 * test_pacer_schedule: segments and ramps, ends, and schedules replaced while running. */
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

static const struct ramp ramps[] = {
    {{{2 * S, 0, 1000}}, 1, {1000}},
    {{{2 * S, 1000, 0}}, 1, {1000}},
    {{{4 * S, 500, 1500}, {S, 1500, 1500}}, 2, {4000, 1500}},
    {{{S, 1000, 1000}, {S, 2000, 2000}, {S, 10, 10}}, 3, {1000, 2000, 10}},
    {{{10 * S, 0, 2000}, {10 * S, 2000, 0}, {S, 0, 100}}, 3, {10000, 10000, 50}},
    {{{S, 1000, 0}, {5 * S, 0, 0}, {S, 100, 100}}, 3, {500, 0, 100}},
    {{{S, 0, 0}, {S, 10, 10}, {S, 0, 0}}, 3, {0, 10, 0}},
};

static void each_segment_has_as_many_arrivals_as_its_integral(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ramps / sizeof *ramps; i++) {
        const struct pacer_config c =
            config_of(PACER_CONSTANT, ramps[i].segments, ramps[i].n_segments);
        uint64_t begin = 0;
        unsigned total = 0;

        for (size_t s = 0; s < ramps[i].n_segments; s++) {
            const uint64_t end = begin + ramps[i].segments[s].duration_ns;

            assert_int_equal(count_between(&c, begin, end), ramps[i].n_expected[s]);
            total += ramps[i].n_expected[s];
            begin = end;
        }
        assert_int_equal(count_between(&c, 0, UINT64_MAX), total);
    }
}

/* The integral of the rate from 0 to t seconds. */
static double integral_until(const struct ramp *ramp, double t)
{
    double sum = 0;

    for (size_t i = 0; i < ramp->n_segments && t > 0; i++) {
        const struct pacer_segment *s = &ramp->segments[i];
        const double length = (double)s->duration_ns / 1e9, x = fmin(t, length);

        sum += s->rate_begin_qps * x + (s->rate_end_qps - s->rate_begin_qps) / length * x * x / 2;
        t -= length;
    }
    return sum;
}

static void each_constant_arrival_is_where_the_integral_reaches_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ramps / sizeof *ramps; i++) {
        const struct pacer_config c =
            config_of(PACER_CONSTANT, ramps[i].segments, ramps[i].n_segments);
        struct pacer p;
        double k = 0;

        for (pacer_start(&p, &c, START); p.next_ns != PACER_NEVER; pacer_advance(&p), k++)
            assert_true(fabs(integral_until(&ramps[i], (double)(p.next_ns - START) / 1e9) - k) <
                        1e-5);
    }
}

static void a_boundary_makes_no_burst(void **state)
{
    static const struct pacer_segment segments[] = {
        {777777777, 1000.5, 1000.5}, {333333333, 2000, 4000}, {S, 1500, 1500}, {S, 1500, 1000}};
    const struct pacer_config c = config_of(PACER_CONSTANT, segments, 4);
    struct pacer p;
    uint64_t before = START;

    (void)state;
    pacer_start(&p, &c, START);
    assert_int_equal(p.next_ns, START);
    for (pacer_advance(&p); p.next_ns != PACER_NEVER; pacer_advance(&p)) {
        assert_in_range(p.next_ns - before, 249999, 1000001);
        before = p.next_ns;
    }
}

static void a_segment_of_rate_0_is_silent(void **state)
{
    static const struct pacer_segment segments[] = {{2 * S, 1000, 0}, {S, 0, 0}, {S, 100, 100}};

    (void)state;
    for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
        const struct pacer_config c = config_of((enum pacer_arrival)arrival, segments, 3);

        assert_int_equal(count_between(&c, 2 * S, 3 * S), 0);
        assert_in_range(count_between(&c, 0, 2 * S), 900, 1100);
        assert_in_range(count_between(&c, 3 * S, 4 * S), 70, 130);
    }
}

static void a_poisson_ramp_follows_the_integral(void **state)
{
    static const struct pacer_segment segments[] = {{10 * S, 0, 40000}, {10 * S, 40000, 0}};
    const struct pacer_config c = config_of(PACER_POISSON, segments, 2);

    (void)state;
    assert_in_range(count_between(&c, 0, 5 * S), 49000, 51000);
    assert_in_range(count_between(&c, 5 * S, 10 * S), 148500, 151500);
    assert_in_range(count_between(&c, 10 * S, 15 * S), 148500, 151500);
    assert_in_range(count_between(&c, 15 * S, 20 * S), 49000, 51000);
}

static void a_schedule_ends_with_never_and_stays_there(void **state)
{
    static const struct pacer_segment over[] = {{S, 100, 100}};
    static const struct pacer_segment silence[] = {{S, 100, 0}, {PACER_NEVER, 0, 0}};
    static const struct pacer_segment empty[] = {{S, 0, 0}};
    static const struct {
        const struct pacer_segment *segments;
        size_t n_segments;
        bool is_empty;
    } cases[] = {{over, 1, false}, {silence, 2, false}, {silence + 1, 1, true}, {empty, 1, true}};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct pacer_config c = config_of(i % 2 == 0 ? PACER_CONSTANT : PACER_POISSON,
                                                cases[i / 2].segments, cases[i / 2].n_segments);
        struct pacer p;
        unsigned n = 0;

        for (pacer_start(&p, &c, START); p.next_ns != PACER_NEVER; pacer_advance(&p))
            assert_true(++n < 1000);
        assert_int_equal(n == 0, cases[i / 2].is_empty);
        for (int again = 0; again < 3; again++) {
            pacer_advance(&p);
            assert_int_equal(p.next_ns, PACER_NEVER);
        }
    }
}

static void the_next_arrival_never_decreases(void **state)
{
    static const struct pacer_segment segments[] = {
        {S, 0, 1e6}, {1, 1e9, 1e9}, {S / 3, 1e6, 0}, {S, 0, 0}, {S / 7, 1e5, 3e5}};

    (void)state;
    for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
        const struct pacer_config c = config_of((enum pacer_arrival)arrival, segments, 5);
        uint64_t before = START;
        unsigned n = 0;
        struct pacer p;

        for (pacer_start(&p, &c, START); p.next_ns != PACER_NEVER; pacer_advance(&p), n++) {
            assert_true(p.next_ns >= before);
            before = p.next_ns;
        }
        assert_true(n > 600000);
    }
}

enum { MOST_TAKEN = 6000 };

/* Takes up to MOST_TAKEN arrivals, and switches to the other schedule when the next one is due at
 * change_ns. */
static unsigned take(const struct pacer_config *config, const struct pacer_segment *other,
                     size_t n_other, uint64_t change_ns, uint64_t *arrivals)
{
    struct pacer p;
    bool changed = false;
    unsigned n = 0;

    for (pacer_start(&p, config, START); p.next_ns != PACER_NEVER && n < MOST_TAKEN;
         pacer_advance(&p)) {
        if (!changed && p.next_ns >= START + change_ns) {
            pacer_replace(&p, other, n_other);
            changed = true;
        }
        arrivals[n++] = p.next_ns - START;
    }
    return n;
}

/* Applying the change when the next arrival is due or long before gives the same result. */
static void a_replaced_rest_makes_no_gap_and_no_burst(void **state)
{
    static const struct pacer_segment before[] = {{PACER_NEVER, 1000, 1000}};
    static const struct pacer_segment after[] = {{S, 1000, 1000}, {S, 0, 0}, {S, 4000, 4000}};
    static uint64_t early[MOST_TAKEN], late[MOST_TAKEN], whole[MOST_TAKEN];

    (void)state;
    for (int arrival = PACER_POISSON; arrival <= PACER_CONSTANT; arrival++) {
        struct pacer_config c = config_of((enum pacer_arrival)arrival, before, 1);
        struct pacer_config w = config_of((enum pacer_arrival)arrival, after, 3);
        const unsigned n = take(&w, NULL, 0, PACER_NEVER - START, whole);

        assert_int_equal(take(&c, after, 3, S, late), n);
        assert_int_equal(take(&c, after, 3, S / 2, early), n);
        assert_memory_equal(early, whole, n * sizeof *whole);
        assert_memory_equal(late, whole, n * sizeof *whole);
        if (arrival == PACER_CONSTANT) {
            assert_int_equal(n, 5000);
            assert_int_equal(late[1000], 2 * S);
            assert_int_equal(late[1001], 2 * S + S / 4000);
        }
    }
}

/* A schedule that had ended continues where it was. */
static void a_silent_schedule_is_replaced(void **state)
{
    static const struct pacer_segment silent[] = {{PACER_NEVER, 0, 0}};
    static const struct pacer_segment later[] = {{3 * S, 0, 0}, {PACER_NEVER, 10, 10}};
    const struct pacer_config c = config_of(PACER_CONSTANT, silent, 1);
    struct pacer p;

    (void)state;
    pacer_start(&p, &c, START);
    assert_int_equal(p.next_ns, PACER_NEVER);
    pacer_replace(&p, later, 2);
    assert_int_equal(p.next_ns - START, 3 * S);
}

static void what_was_not_wanted_leaves_no_burst(void **state)
{
    const struct pacer_segment segment = {PACER_NEVER, 10, 10};
    const struct pacer_config c = config_of(PACER_CONSTANT, &segment, 1);
    struct pacer p;

    (void)state;
    pacer_start(&p, &c, START);
    pacer_skip_to(&p, START + S / 2 + 7);
    for (uint64_t i = 0; i < 20; i++, pacer_advance(&p))
        assert_int_equal(p.next_ns, START + S / 2 + 7 + i * S / 10);
    pacer_skip_to(&p, START + S); /* passed long ago */
    assert_int_equal(p.next_ns, START + S / 2 + 7 + 2 * S);
    pacer_skip_to(&p, START + 5 * S); /* once more */
    for (uint64_t i = 0; i < 20; i++, pacer_advance(&p))
        assert_int_equal(p.next_ns, START + 5 * S + i * S / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_segment_has_as_many_arrivals_as_its_integral),
        cmocka_unit_test(each_constant_arrival_is_where_the_integral_reaches_it),
        cmocka_unit_test(a_boundary_makes_no_burst),
        cmocka_unit_test(a_segment_of_rate_0_is_silent),
        cmocka_unit_test(a_poisson_ramp_follows_the_integral),
        cmocka_unit_test(a_schedule_ends_with_never_and_stays_there),
        cmocka_unit_test(the_next_arrival_never_decreases),
        cmocka_unit_test(a_replaced_rest_makes_no_gap_and_no_burst),
        cmocka_unit_test(a_silent_schedule_is_replaced),
        cmocka_unit_test(what_was_not_wanted_leaves_no_burst),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
