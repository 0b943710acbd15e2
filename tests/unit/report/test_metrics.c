/* SPDX-License-Identifier: MIT
 * test_metrics: the sum of several runs equals one run with all values; a result and its log must
 * match. */
#include "report/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { N_RUNS = 3, N_VALUES = 4000 };

static uint64_t value_of(int run, int i)
{
    return 1000 + (uint64_t)(i * 7919 % 100003) * (uint64_t)(run + 1);
}

static void fill(struct metrics *m, int run)
{
    struct metric *metric = metrics_get(m, "response");

    assert_non_null(metric);
    for (int i = 0; i < N_VALUES; i++)
        hist_record(&metric->hist, value_of(run, i));
    metric->hist.beyond = (uint64_t)run * 10;
}

static void assert_close(double a, double expected)
{
    assert_true(fabs(a - expected) <= 1e-9 * fabs(expected));
}

static void sum_is_that_of_all_values(void **state)
{
    struct metrics runs[N_RUNS] = {0}, sum = {0}, all = {0};
    struct latency of_sum, of_all;

    (void)state;
    for (int run = 0; run < N_RUNS; run++) {
        fill(&runs[run], run);
        fill(&all, run);
        assert_int_equal(metrics_merge(&sum, &runs[run]), 0);
        metrics_free(&runs[run]);
    }
    metrics_get(&all, "response")->hist.beyond = 30;
    metrics_latency(metrics_find(&sum, "response"), &of_sum);
    metrics_latency(metrics_find(&all, "response"), &of_all);
    assert_int_equal(of_sum.count, N_RUNS * N_VALUES);
    assert_int_equal(of_sum.over, 30);
    assert_int_equal(of_sum.min_ns, of_all.min_ns);
    assert_int_equal(of_sum.max_ns, of_all.max_ns);
    assert_close(of_sum.mean_ns, of_all.mean_ns);
    assert_close(of_sum.stddev_ns, of_all.stddev_ns);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        assert_int_equal(of_sum.percentiles_ns[i], of_all.percentiles_ns[i]);
    assert_int_equal(of_sum.percentiles_ns[4], HIST_BEYOND); /* 30 in 12,030 is more than 0.1 % */
    metrics_free(&sum);
    metrics_free(&all);
}

static void what_a_result_says_is_exact(void **state)
{
    struct metrics m = {0};
    struct latency l = {.count = N_VALUES, .over = 5, .clamped = 3};
    struct metric *metric;

    (void)state;
    fill(&m, 0);
    metric = metrics_get(&m, "response");
    l.min_ns = metric->hist.min_ns;
    l.max_ns = metric->hist.max_ns;
    l.mean_ns = 12345.5;
    l.stddev_ns = 7;
    assert_int_equal(metrics_learn(metric, &l), 0);
    assert_true(metric->has_counts);
    assert_close(hist_mean_ns(&metric->hist), 12345.5);
    assert_close(hist_stddev_ns(&metric->hist), 7);
    assert_int_equal(metric->hist.beyond, 5);
    assert_int_equal(metric->hist.clamped, 3);
    metrics_free(&m);
}

/* No query was answered: there are no values, but the number of unanswered queries is known. */
static void a_result_without_values_is_one(void **state)
{
    struct metrics m = {0};
    struct latency l = {.over = 300};

    (void)state;
    assert_int_equal(metrics_learn(metrics_get(&m, "response"), &l), 0);
    metrics_latency(metrics_find(&m, "response"), &l);
    assert_int_equal(l.count, 0);
    assert_int_equal(l.over, 300);
    assert_true(l.percentiles_ns[0] == HIST_BEYOND);
    metrics_free(&m);
}

/* As in 20,000 results, whose counts would take gigabytes. */
static void a_result_alone_takes_no_memory_for_counts(void **state)
{
    const struct latency l = {
        .count = 3, .min_ns = 1000, .max_ns = 3000, .mean_ns = 2000, .stddev_ns = 1000};
    struct metrics m = {0}, sum = {0};
    struct latency of_sum;
    struct metric *metric = metrics_get(&m, "response");

    (void)state;
    assert_int_equal(metrics_learn(metric, &l), 0);
    assert_false(metric->has_counts);
    assert_null(metric->hist.counts);
    assert_int_equal(hist_percentile(&metric->hist, 1, 2), 3000);
    assert_int_equal(metrics_merge(&sum, &m), 0);
    metrics_latency(metrics_find(&sum, "response"), &of_sum);
    assert_int_equal(of_sum.count, 3);
    assert_close(of_sum.stddev_ns, 1000);
    assert_true(of_sum.percentiles_ns[0] == LATENCY_UNKNOWN);
    metrics_free(&sum);
    metrics_free(&m);
}

static void values_of_another_run_are_noticed(void **state)
{
    struct metrics m = {0};
    struct metric *metric;
    struct latency l, right;

    (void)state;
    fill(&m, 0);
    metric = metrics_get(&m, "response");
    metrics_latency(metric, &right);
    l = right;
    l.count++;
    assert_int_equal(metrics_learn(metric, &l), -1);
    l = right;
    l.max_ns *= 2;
    assert_int_equal(metrics_learn(metric, &l), -1);
    l = right;
    l.min_ns /= 2;
    assert_int_equal(metrics_learn(metric, &l), -1);
    assert_int_equal(metrics_learn(metric, &right), 0);
    metrics_free(&m);
}

static void percentiles_without_counts_are_unknown(void **state)
{
    struct metrics sum = {0}, with = {0}, without = {0};
    struct latency l = {.count = 50, .min_ns = 10, .max_ns = 20, .mean_ns = 15, .stddev_ns = 2};

    (void)state;
    fill(&with, 0);
    assert_int_equal(metrics_learn(metrics_get(&without, "response"), &l), 0);
    assert_int_equal(metrics_merge(&sum, &with), 0);
    metrics_latency(metrics_find(&sum, "response"), &l);
    assert_true(l.percentiles_ns[0] != LATENCY_UNKNOWN);
    assert_int_equal(metrics_merge(&sum, &without), 0);
    metrics_latency(metrics_find(&sum, "response"), &l);
    assert_int_equal(l.count, N_VALUES + 50);
    assert_int_equal(l.min_ns, 10);
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        assert_int_equal(l.percentiles_ns[i], LATENCY_UNKNOWN);
    metrics_free(&sum);
    metrics_free(&with);
    metrics_free(&without);
}

static void no_more_metrics_are_added_than_there_is_room_for(void **state)
{
    struct metrics m = {0};
    char name[METRICS_NAME_BYTES + 1];

    (void)state;
    for (int i = 0; i < METRICS_MOST; i++) {
        snprintf(name, sizeof name, "m%d", i);
        assert_non_null(metrics_get(&m, name));
    }
    assert_null(metrics_get(&m, "one more"));
    assert_ptr_equal(metrics_get(&m, "m0"), &m.items[0]);
    assert_null(metrics_find(&m, "one more"));
    metrics_free(&m);
    assert_null(metrics_get(&m, "a name of more than thirty-one characters"));
}

static void the_shortage_is_of_room_or_of_memory(void **state)
{
    struct metrics m = {0};
    char name[METRICS_NAME_BYTES];

    (void)state;
    for (unsigned i = 0; i < METRICS_MOST; i++) {
        assert_string_equal(metrics_shortage(&m, "too many"), "out of memory");
        snprintf(name, sizeof name, "m%u", i);
        assert_non_null(metrics_get(&m, name));
    }
    assert_null(metrics_get(&m, "another"));
    assert_string_equal(metrics_shortage(&m, "too many"), "too many");
    metrics_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_is_that_of_all_values),
        cmocka_unit_test(what_a_result_says_is_exact),
        cmocka_unit_test(a_result_without_values_is_one),
        cmocka_unit_test(a_result_alone_takes_no_memory_for_counts),
        cmocka_unit_test(values_of_another_run_are_noticed),
        cmocka_unit_test(percentiles_without_counts_are_unknown),
        cmocka_unit_test(no_more_metrics_are_added_than_there_is_room_for),
        cmocka_unit_test(the_shortage_is_of_room_or_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
