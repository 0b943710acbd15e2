/* SPDX-License-Identifier: MIT
 * test_nights: simulated series of nights, 10 runs each with 1 % noise, and noise between nights.
 * Same seeds, same noise.  The control pools the runs, as comparison does. */
#include "report/nights.h"

#include "base/rng.h"
#include "report/hodges_lehmann.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 10, MOST_NIGHTS = 64, SERIES = 300 };

#define RUN_NOISE 0.01

struct series {
    double runs[MOST_NIGHTS][RUNS]; /* of the reference nights */
    double medians[MOST_NIGHTS];
    size_t n;
};

struct alarms {
    int n_judged, n_alarms, first; /* first: night, from 0; -1: none */
};

typedef double effect_of_night(int night);
typedef bool alarms_on(const struct series *before, const double runs[RUNS]);

static double nothing(int night)
{
    (void)night;
    return 1;
}

static double step_on_night_20(int night)
{
    return night >= 20 ? 1.05 : 1;
}

static double creep(int night)
{
    return pow(1.002, night);
}

static double normal(struct rng *rng)
{
    return sqrt(2 * rng_exponential(rng)) * cos(2 * 3.14159265358979 * rng_uniform(rng));
}

static bool alarms_by_night(const struct series *before, const double runs[RUNS])
{
    struct nights_metric m = {.least_share = 0.03};

    nights_judge(&m, before->medians, before->n, hodges_lehmann_median(runs, RUNS), 1);
    return m.finding == COMPARISON_WORSE;
}

static bool alarms_by_run(const struct series *before, const double runs[RUNS])
{
    const size_t n = before->n < NIGHTS_SLIDING ? before->n : NIGHTS_SLIDING;
    struct comparison c = {.least_share = 0.03};

    assert_int_equal(comparison_make(&c, before->runs[before->n - n], n * RUNS, runs, RUNS), 0);
    comparison_judge(&c, 1);
    return c.finding == COMPARISON_WORSE;
}

/* A night that alarms is no reference for later ones. */
static void simulate(struct rng *rng, int n_nights, double between, effect_of_night *effect,
                     alarms_on *alarm, struct alarms *alarms)
{
    struct series s = {.n = 0};

    alarms->first = -1;
    for (int night = 0; night < n_nights; night++) {
        const double level = effect(night) * exp(between * normal(rng));
        double *runs = s.runs[s.n];
        bool alarmed = false;

        for (int i = 0; i < RUNS; i++)
            runs[i] = level * exp(RUN_NOISE * normal(rng));
        s.medians[s.n] = hodges_lehmann_median(runs, RUNS);
        if (s.n >= NIGHTS_LEAST) {
            alarmed = alarm(&s, runs);
            alarms->n_judged++;
            alarms->n_alarms += alarmed;
            if (alarmed && alarms->first < 0)
                alarms->first = night;
        }
        s.n += !alarmed;
    }
}

static double share_of_false_alarms(int n_series, double between, alarms_on *alarm)
{
    struct alarms alarms = {0};
    struct rng rng;

    rng_seed(&rng, 3, 0);
    for (int i = 0; i < n_series; i++)
        simulate(&rng, 40, between, nothing, alarm, &alarms);
    return (double)alarms.n_alarms / alarms.n_judged;
}

static void at_most_one_night_in_a_hundred_is_a_false_regression(void **state)
{
    static const double between[] = {0.01, 0.02, 0.03, 0.05};

    (void)state;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        assert_true(share_of_false_alarms(SERIES, between[i], alarms_by_night) <= 0.01);
}

static void pooled_runs_do_not_keep_that_limit(void **state)
{
    (void)state;
    assert_true(share_of_false_alarms(4, 0.05, alarms_by_run) > 0.05);
}

/* How many series alarm first on a night from `from` to `to`. */
static int times_found(effect_of_night *effect, int from, int to)
{
    struct rng rng;
    int n = 0;

    rng_seed(&rng, 5, 0);
    for (int i = 0; i < SERIES; i++) {
        struct alarms alarms = {0};

        simulate(&rng, to + 1, 0.01, effect, alarms_by_night, &alarms);
        n += alarms.first >= from;
    }
    return n;
}

static void five_percent_more_are_found_within_three_nights(void **state)
{
    (void)state;
    assert_in_range(times_found(step_on_night_20, 20, 22), SERIES * 95 / 100, SERIES);
}

static void a_creep_of_two_in_a_thousand_is_found_within_forty_nights(void **state)
{
    (void)state;
    assert_in_range(times_found(creep, NIGHTS_LEAST, 39), SERIES * 99 / 100, SERIES);
}

static void fill(double *values, size_t n, double slope)
{
    for (size_t i = 0; i < n; i++)
        values[i] = 100 * (1 + slope * (double)i + (i % 2 == 0 ? 0.001 : -0.001));
}

static void direction_size_and_trend_matter(void **state)
{
    struct nights_metric m = {.least_share = 0.03};
    double values[20];

    (void)state;
    fill(values, 20, 0);
    nights_judge(&m, values, 20, 104, 7);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    nights_judge(&m, values, 20, 96, 7);
    assert_int_equal(m.finding, COMPARISON_BETTER);
    nights_judge(&m, values, 20, 102.9, 7); /* beyond doubt, but too small */
    assert_true(m.step.p < 1e-6);
    assert_int_equal(m.finding, COMPARISON_SAME);
    m.less_is_worse = true;
    nights_judge(&m, values, 20, 96, 7);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    fill(values, 20, 0.001);
    nights_judge(&m, values, 20, 102, 7);
    assert_true(fabs(m.trend - 0.001) < 1e-4);
}

static void nights_without_any_noise_are_judged(void **state)
{
    struct nights_metric m = {.less_is_worse = true, .least_share = 0.001};
    double values[NIGHTS_PINNED + NIGHTS_RECENT];

    (void)state;
    for (size_t i = 0; i < NIGHTS_PINNED + NIGHTS_RECENT; i++)
        values[i] = 1;
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_RECENT, 1, 1);
    assert_true(m.step.p == 1 && m.drift.p == 1);
    assert_int_equal(m.finding, COMPARISON_SAME);
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_RECENT, 0.99, 1);
    assert_int_equal(m.finding, COMPARISON_WORSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_one_night_in_a_hundred_is_a_false_regression),
        cmocka_unit_test(pooled_runs_do_not_keep_that_limit),
        cmocka_unit_test(five_percent_more_are_found_within_three_nights),
        cmocka_unit_test(a_creep_of_two_in_a_thousand_is_found_within_forty_nights),
        cmocka_unit_test(direction_size_and_trend_matter),
        cmocka_unit_test(nights_without_any_noise_are_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
