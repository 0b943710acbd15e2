/* SPDX-License-Identifier: MIT
 * test_comparison: what is found in runs with noise of known size, part of it common to all runs of
 * a night.  The seeds are fixed.  $SEEDS: how many for the tests of twenty nights, 2 by default. */
#include "report/comparison.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 10, NIGHTS = 20, HISTORY = 14, METRICS = 3, FROM_NIGHT = 15 };

/* p50, p99, and one as noisy as a p99.9 */
static const double run_noise[METRICS] = {0.01, 0.05, 0.1};
#define NIGHT_NOISE 0.005

struct night {
    double values[METRICS][RUNS];
};

static double normal(struct rng *rng)
{
    return sqrt(2 * rng_exponential(rng)) * cos(2 * 3.14159265358979 * rng_uniform(rng));
}

static void measure(struct night *night, struct rng *rng, double p50_effect)
{
    const double of_night = NIGHT_NOISE * normal(rng);

    for (int m = 0; m < METRICS; m++)
        for (int i = 0; i < RUNS; i++)
            night->values[m][i] = 1e5 * (m + 1) * exp(of_night + run_noise[m] * normal(rng)) *
                                  (m == 0 ? 1 + p50_effect : 1);
}

/* Returns whether any metric of a night is worse than in the nights of the history. */
static bool alarms(const struct night *history, int n_nights, const struct night *night)
{
    struct comparison c[METRICS];
    double before[HISTORY * RUNS];
    bool worse = false;

    memset(c, 0, sizeof c);
    for (int m = 0; m < METRICS; m++) {
        c[m].least_share = 0.03;
        for (int i = 0; i < n_nights; i++)
            memcpy(before + i * RUNS, history[i].values[m], sizeof history[i].values[m]);
        assert_int_equal(
            comparison_make(&c[m], before, (size_t)n_nights * RUNS, night->values[m], RUNS), 0);
    }
    comparison_judge(c, METRICS);
    for (int m = 0; m < METRICS; m++)
        worse |= c[m].finding == COMPARISON_WORSE;
    return worse;
}

/* Runs twenty nights, each compared with the last 14 that passed.  Returns the first that alarms
 * (from 1), 0: none. */
static int first_alarm(uint64_t seed, double p50_effect)
{
    struct night history[NIGHTS], night;
    struct rng rng;
    int n = 0;

    rng_seed(&rng, seed, 0);
    for (int i = 1; i <= NIGHTS; i++) {
        const int n_used = n < HISTORY ? n : HISTORY;

        measure(&night, &rng, i >= FROM_NIGHT ? p50_effect : 0);
        if (n > 0 && alarms(history + n - n_used, n_used, &night))
            return i;
        history[n++] = night;
    }
    return 0;
}

static uint64_t n_seeds(void)
{
    const char *text = getenv("SEEDS");

    return text != NULL ? strtoull(text, NULL, 10) : 2;
}

static void five_percent_more_are_flagged_that_night_or_the_next(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= n_seeds(); seed++)
        assert_in_range(first_alarm(seed, 0.05), FROM_NIGHT, FROM_NIGHT + 1);
}

static void quiet_nights_alarm_nobody(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= n_seeds(); seed++)
        assert_int_equal(first_alarm(seed, 0), 0);
}

enum order { IN_TURNS, ONE_AFTER_THE_OTHER };

static bool is_reference(enum order order, int run)
{
    return order == IN_TURNS ? run % 4 == 0 || run % 4 == 3 : run < RUNS;
}

/* Simulates n nights of as many runs of a reference as of a program with this effect, on a host
 * that slows down by 1 % per run.  Returns in how many the program is found worse. */
static int times_found_beside_a_reference(enum order order, double effect, int n)
{
    struct rng rng;
    int n_found = 0;

    rng_seed(&rng, 17, 0);
    for (int round = 0; round < n; round++) {
        struct comparison c = {.least_share = 0.03};
        double a[RUNS], b[RUNS];

        for (int run = 0, n_a = 0, n_b = 0; run < 2 * RUNS; run++) {
            const double level = exp(0.01 * run + 0.01 * normal(&rng));

            if (is_reference(order, run))
                a[n_a++] = level;
            else
                b[n_b++] = (1 + effect) * level;
        }
        assert_int_equal(comparison_make(&c, a, RUNS, b, RUNS), 0);
        comparison_judge(&c, 1);
        n_found += c.finding == COMPARISON_WORSE;
    }
    return n_found;
}

static void runs_in_turns_do_not_take_the_host_for_the_program(void **state)
{
    (void)state;
    assert_int_equal(times_found_beside_a_reference(IN_TURNS, 0, 60), 0);
    assert_in_range(times_found_beside_a_reference(ONE_AFTER_THE_OTHER, 0, 60), 30, 60);
    assert_in_range(times_found_beside_a_reference(IN_TURNS, 0.25, 60), 40, 60);
}

/* Makes n comparisons with an effect on the p50.  Returns in how many it was found. */
static int times_found(double effect, int n, double *detectable)
{
    struct rng rng;
    int n_found = 0;

    rng_seed(&rng, 11, 0);
    *detectable = 0;
    for (int round = 0; round < n; round++) {
        struct comparison c = {.least_share = 0.03};
        double a[3 * RUNS], b[RUNS];

        for (int i = 0; i < 3 * RUNS; i++)
            a[i] = exp(0.01 * normal(&rng));
        for (int i = 0; i < RUNS; i++)
            b[i] = (1 + effect) * exp(0.01 * normal(&rng));
        assert_int_equal(comparison_make(&c, a, 3 * RUNS, b, RUNS), 0);
        comparison_judge(&c, 1);
        n_found += c.finding == COMPARISON_WORSE;
        *detectable += c.detectable / n;
    }
    return n_found;
}

static void detectable_effect_is_found_in_four_of_five(void **state)
{
    double detectable, unused;

    (void)state;
    assert_int_equal(times_found(0, 60, &detectable), 0);
    assert_true(detectable > 0.03 && detectable < 0.05);
    assert_in_range(times_found(detectable, 60, &unused), 38, 57);
    assert_in_range(times_found(0.03, 60, &unused), 0, 3); /* the margin itself is no regression */
}

static void groups(double *a, double *b, double factor)
{
    for (int i = 0; i < RUNS; i++) {
        a[i] = 1 + 0.002 * i;
        b[i] = factor * (1 + 0.002 * (RUNS - 1 - i));
    }
}

static enum comparison_finding finding_of(double factor, bool less_is_worse)
{
    struct comparison c = {.least_share = 0.03, .less_is_worse = less_is_worse};
    double a[RUNS], b[RUNS];

    groups(a, b, factor);
    assert_int_equal(comparison_make(&c, a, RUNS, b, RUNS), 0);
    comparison_judge(&c, 1);
    return c.finding;
}

static void direction_and_size_matter(void **state)
{
    (void)state;
    assert_int_equal(finding_of(1, false), COMPARISON_SAME);
    assert_int_equal(finding_of(1.1, false), COMPARISON_WORSE);
    assert_int_equal(finding_of(0.9, false), COMPARISON_BETTER);
    assert_int_equal(finding_of(1.1, true), COMPARISON_BETTER);
    assert_int_equal(finding_of(0.9, true), COMPARISON_WORSE);
    assert_int_equal(finding_of(1.025, false), COMPARISON_SAME); /* significant, but too small */
    assert_int_equal(finding_of(0.975, false), COMPARISON_SAME);
}

static void noise_of_the_history_widens_the_margin(void **state)
{
    struct comparison c = {.least_share = 0.03};
    double a[RUNS], b[RUNS];

    (void)state;
    for (int i = 0; i < RUNS; i++) {
        a[i] = 1 + 0.1 * (i % 2); /* half of them 1, half 1.1 */
        b[i] = a[i] * 1.08;
    }
    assert_int_equal(comparison_make(&c, a, RUNS, b, RUNS), 0);
    comparison_judge(&c, 1);
    assert_true(fabs(c.margin - 0.1 / 1.05) < 1e-9);
    assert_int_equal(c.finding, COMPARISON_SAME);
}

static void too_few_runs_can_show_nothing(void **state)
{
    (void)state;
    assert_true(comparison_is_possible(10, 10, 7));
    assert_true(comparison_is_possible(140, 5, 7));
    assert_false(comparison_is_possible(5, 5, 1));
    assert_false(comparison_is_possible(10, 1, 1));
    assert_true(comparison_is_possible(6, 6, 1));
    assert_false(comparison_is_possible(6, 6, 7));
}

static void the_more_metrics_are_judged_the_more_each_has_to_show(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct comparison c[2] = {{.p = 0.006, .low = 0.1, .high = 0.2, .margin = 0.03},
                                  {.p = 0.9, .margin = 0.03}};

        comparison_judge(c, n);
        assert_int_equal(c[0].finding, n == 1 ? COMPARISON_WORSE : COMPARISON_SAME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_percent_more_are_flagged_that_night_or_the_next),
        cmocka_unit_test(quiet_nights_alarm_nobody),
        cmocka_unit_test(runs_in_turns_do_not_take_the_host_for_the_program),
        cmocka_unit_test(detectable_effect_is_found_in_four_of_five),
        cmocka_unit_test(direction_and_size_matter),
        cmocka_unit_test(noise_of_the_history_widens_the_margin),
        cmocka_unit_test(too_few_runs_can_show_nothing),
        cmocka_unit_test(the_more_metrics_are_judged_the_more_each_has_to_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
