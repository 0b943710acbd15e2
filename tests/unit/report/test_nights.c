/* SPDX-License-Identifier: MIT
 * test_nights: simulated series of nights, 10 runs each, with 1 % noise between runs and noise
 * between nights, independent per metric.  $SERIES: how many, 300 by default.  The seeds are fixed.
 * The control pools the runs, as comparison does. */
#include "report/nights.h"

#include "base/rng.h"
#include "report/hodges_lehmann.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 10, MOST_NIGHTS = 64, METRICS = 7 };

#define RUN_NOISE 0.01

struct night {
    double runs[METRICS][RUNS];
};

struct series {
    struct night nights[MOST_NIGHTS]; /* the reference nights */
    double medians[METRICS][MOST_NIGHTS];
    size_t n;
};

struct alarms {
    int n_judged, n_alarms, last; /* last: night, from 0; -1: none */
};

typedef double effect_of_night(int night);
typedef bool alarms_on(const struct series *before, const struct night *tonight, size_t n_metrics);

static int n_series(void)
{
    const char *text = getenv("SERIES");

    return text != NULL ? atoi(text) : 300;
}

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

static bool alarms_by_night(const struct series *before, const struct night *tonight,
                            size_t n_metrics)
{
    bool alarms = false;

    for (size_t i = 0; i < n_metrics; i++) {
        struct nights_metric m = {.least_share = 0.03};

        nights_judge(&m, before->medians[i], before->n,
                     hodges_lehmann_median(tonight->runs[i], RUNS), n_metrics);
        alarms |= m.finding == COMPARISON_WORSE;
    }
    return alarms;
}

/* Judges the first metric by its runs. */
static bool alarms_by_run(const struct series *before, const struct night *tonight,
                          size_t n_metrics)
{
    const size_t n = before->n < NIGHTS_SLIDING ? before->n : NIGHTS_SLIDING;
    struct comparison c = {.least_share = 0.03};
    double runs[NIGHTS_SLIDING * RUNS];

    (void)n_metrics;
    for (size_t i = 0; i < n; i++)
        memcpy(runs + i * RUNS, before->nights[before->n - n + i].runs[0], RUNS * sizeof *runs);
    assert_int_equal(comparison_make(&c, runs, n * RUNS, tonight->runs[0], RUNS), 0);
    comparison_judge(&c, 1);
    return c.finding == COMPARISON_WORSE;
}

/* The effect is on the first metric. */
static void measure(struct night *night, struct rng *rng, size_t n_metrics, double between,
                    double effect)
{
    for (size_t m = 0; m < n_metrics; m++) {
        const double level = (m == 0 ? effect : 1) * exp(between * normal(rng));

        for (int i = 0; i < RUNS; i++)
            night->runs[m][i] = level * exp(RUN_NOISE * normal(rng));
    }
}

/* A night that alarms is not a reference for later ones. */
static void simulate(struct rng *rng, int n_nights, size_t n_metrics, double between,
                     effect_of_night *effect, alarms_on *alarm, struct alarms *alarms)
{
    struct series s = {.n = 0};

    alarms->last = -1;
    for (int night = 0; night < n_nights; night++) {
        struct night *tonight = &s.nights[s.n];
        bool alarmed = false;

        measure(tonight, rng, n_metrics, between, effect(night));
        for (size_t m = 0; m < n_metrics; m++)
            s.medians[m][s.n] = hodges_lehmann_median(tonight->runs[m], RUNS);
        if (s.n >= NIGHTS_LEAST) {
            alarmed = alarm(&s, tonight, n_metrics);
            alarms->n_judged++;
            alarms->n_alarms += alarmed;
            if (alarmed)
                alarms->last = night;
        }
        s.n += !alarmed;
    }
}

static double share_of_false_alarms(int series, size_t n_metrics, double between, alarms_on *alarm)
{
    struct alarms alarms = {0};
    struct rng rng;
    double share;

    rng_seed(&rng, 3, 0);
    for (int i = 0; i < series; i++)
        simulate(&rng, 60, n_metrics, between, nothing, alarm, &alarms);
    share = (double)alarms.n_alarms / alarms.n_judged;
    print_message("%zu metrics, %.0f %% between nights: %.2f %% of nights are false regressions\n",
                  n_metrics, 100 * between, 100 * share);
    return share;
}

static void at_most_one_night_in_a_hundred_is_a_false_regression(void **state)
{
    static const double between[] = {0.01, 0.02, 0.03, 0.05};

    (void)state;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        assert_true(share_of_false_alarms(n_series(), 1, between[i], alarms_by_night) <= 0.01);
        assert_true(share_of_false_alarms(n_series(), METRICS, between[i], alarms_by_night) <=
                    0.01);
    }
}

static void pooled_runs_do_not_keep_that_limit(void **state)
{
    (void)state;
    assert_true(share_of_false_alarms(1, 1, 0.05, alarms_by_run) > 0.05);
}

/* The share of series that alarm on a night from `from` to `to`. */
static double share_found(const char *what, size_t n_metrics, effect_of_night *effect, int from,
                          int to)
{
    struct rng rng;
    int n = 0;

    rng_seed(&rng, 5, 0);
    for (int i = 0; i < n_series(); i++) {
        struct alarms alarms = {0};

        simulate(&rng, to + 1, n_metrics, 0.01, effect, alarms_by_night, &alarms);
        n += alarms.last >= from;
    }
    print_message("%zu metrics: %s found in %.1f %% of series\n", n_metrics, what,
                  100.0 * n / n_series());
    return (double)n / n_series();
}

static void five_percent_more_are_found_within_three_nights(void **state)
{
    (void)state;
    assert_true(share_found("+5 % within 3 nights", 1, step_on_night_20, 20, 22) >= 0.95);
    assert_true(share_found("+5 % within 3 nights", METRICS, step_on_night_20, 20, 22) >= 0.93);
}

static void a_creep_of_two_in_a_thousand_is_found_within_forty_nights(void **state)
{
    (void)state;
    assert_true(share_found("0.2 % per night within 40", 1, creep, NIGHTS_LEAST, 39) >= 0.99);
    assert_true(share_found("0.2 % per night within 40", METRICS, creep, NIGHTS_LEAST, 39) >= 0.99);
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
    nights_judge(&m, values, 20, 102.9, 7); /* significant, but too small */
    assert_true(m.step.p < 1e-6);
    assert_int_equal(m.finding, COMPARISON_SAME);
    m.less_is_worse = true;
    nights_judge(&m, values, 20, 96, 7);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    fill(values, 20, 0.001);
    nights_judge(&m, values, 20, 102, 7);
    assert_true(fabs(m.trend - 0.001) < 1e-4);
}

/* Ten nights at 100, then fourteen at 150: tonight is better than these and worse than those. */
static void the_test_that_decides_is_named(void **state)
{
    struct nights_metric m = {.least_share = 0.03};
    double values[NIGHTS_PINNED + NIGHTS_SLIDING];

    (void)state;
    fill(values, NIGHTS_PINNED, 0);
    fill(values + NIGHTS_PINNED, NIGHTS_SLIDING, 0);
    for (size_t i = 0; i < NIGHTS_SLIDING; i++)
        values[NIGHTS_PINNED + i] *= 1.5;
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_SLIDING, 130, 1);
    assert_true(m.step.share < -0.1 && m.drift.share > 0.4);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    assert_true(m.is_by_drift);
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_SLIDING, 180, 1);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    assert_false(m.is_by_drift);
    m.less_is_worse = true; /* better by both */
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_SLIDING, 180, 1);
    assert_int_equal(m.finding, COMPARISON_BETTER);
    assert_false(m.is_by_drift);
}

/* Ten nights, each 2 off 100: with tonight's own noise the error of 5 is 2.108 * sqrt(1.1), and
 * that of three nights at 105, of which two are 2 off, sqrt(48 / 11 * (1/10 + 1/3)). */
static void both_tests_are_students(void **state)
{
    static const double values[] = {98, 102, 98, 102, 98, 102, 98, 102, 98, 102, 103, 105, 107};
    struct nights_metric m = {.least_share = 0.03};

    (void)state;
    nights_judge(&m, values, NIGHTS_PINNED, 105, 1);
    assert_true(fabs(m.noise - 0.021082) < 1e-6);
    assert_true(fabs(m.step.share - 0.05) < 1e-12 && fabs(m.step.p - 0.050067) < 1e-6);
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_RECENT - 1, 107, 1);
    assert_true(fabs(m.drift.share - 0.05) < 1e-12 && fabs(m.drift.p - 0.0039147) < 1e-6);
}

/* Ten nights at 200, then fourteen at 100: tonight is worse than these and better than those. */
static void a_drift_does_not_hide_that_tonight_is_worse(void **state)
{
    struct nights_metric m = {.least_share = 0.03};
    double values[NIGHTS_PINNED + NIGHTS_SLIDING];

    (void)state;
    fill(values, NIGHTS_PINNED, 0);
    fill(values + NIGHTS_PINNED, NIGHTS_SLIDING, 0);
    for (size_t i = 0; i < NIGHTS_PINNED; i++)
        values[i] *= 2;
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_SLIDING, 110, 1);
    assert_true(m.step.share > 0.09 && m.drift.share < -0.4);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    assert_false(m.is_by_drift);
}

static void a_short_series_has_no_drift(void **state)
{
    struct nights_metric m = {.least_share = 0.03};
    double values[NIGHTS_PINNED + NIGHTS_RECENT];

    (void)state;
    fill(values, NIGHTS_PINNED + NIGHTS_RECENT, 0);
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_RECENT - 2, 104, 1);
    assert_false(m.has_drift || m.is_by_drift);
    assert_int_equal(m.finding, COMPARISON_WORSE);
    nights_judge(&m, values, NIGHTS_PINNED + NIGHTS_RECENT - 1, 104, 1);
    assert_true(m.has_drift);
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
        cmocka_unit_test(the_test_that_decides_is_named),
        cmocka_unit_test(both_tests_are_students),
        cmocka_unit_test(a_drift_does_not_hide_that_tonight_is_worse),
        cmocka_unit_test(a_short_series_has_no_drift),
        cmocka_unit_test(nights_without_any_noise_are_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
