/* SPDX-License-Identifier: MIT
 * test_batch_means: the interval covers the mean of a correlated series as often as it claims; one
 * that assumes independent values does not. */
#include "measure/batch_means.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void too_few_batches_have_no_interval(void **state)
{
    struct batch_means b = {0};

    (void)state;
    assert_true(isnan(batch_means_error(&b, 95)) != 0);
    for (unsigned i = 0; i < BATCH_MEANS_LEAST - 1; i++) {
        batch_means_add(&b, 100, 5 + i % 2);
        batch_means_add(&b, 0, 0); /* nothing was answered: no batch */
    }
    assert_true(isnan(batch_means_error(&b, 95)) != 0);
    batch_means_add(&b, 100, 5);
    assert_true(isnan(batch_means_error(&b, 95)) == 0);
}

/* Ten batches of the same size: t(9) * s / sqrt(10), s being the deviation of 1 ... 10. */
static void interval_is_that_of_students_t(void **state)
{
    struct batch_means b = {0};

    (void)state;
    for (unsigned i = 1; i <= 10; i++)
        batch_means_add(&b, 7, i);
    assert_true(fabs(batch_means_error(&b, 90) - 1.833113 * 3.0276503541 / sqrt(10)) < 1e-6);
    assert_true(fabs(batch_means_error(&b, 95) - 2.262157 * 3.0276503541 / sqrt(10)) < 1e-6);
}

/* Batches are weighted by their values: one of a single value hardly matters. */
static void small_batch_weighs_little(void **state)
{
    struct batch_means b = {0};

    (void)state;
    for (unsigned i = 0; i < 12; i++)
        batch_means_add(&b, 100000, 5);
    batch_means_add(&b, 1, 1000);
    assert_true(batch_means_error(&b, 95) < 0.01);
}

static void long_runs_have_longer_batches(void **state)
{
    struct batch_means b = {0};
    uint64_t count = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        batch_means_add(&b, i + 1, i);
        assert_true(b.n <= BATCH_MEANS_MOST);
        assert_true(i < BATCH_MEANS_MOST || b.n > BATCH_MEANS_MOST / 2);
    }
    assert_int_equal(b.intervals_each, 32);
    assert_int_equal(b.n, 32); /* 31 of 32 intervals, and the last of 8 */
    assert_int_equal(b.intervals_last, 8);
    for (unsigned i = 0; i < b.n; i++)
        count += b.batches[i].count;
    assert_int_equal(count, 500500);
}

enum { N_RUNS = 1000, N_SECONDS = 60, PER_SECOND = 100 };

/* One run of an autoregressive series of mean 1000; neighbours correlate by 0.95, and no
 * correlation is left after a second.  Counts whether the mean is within the 95 % interval of batch
 * means, and within that of independent values. */
static void run(struct rng *rng, unsigned *n_by_batches, unsigned *n_as_independent)
{
    struct batch_means b = {0};
    double noise = 0, sum = 0, squares = 0, mean, deviation;

    for (int second = 0; second < N_SECONDS; second++) {
        double of_second = 0;

        for (int i = 0; i < PER_SECOND; i++) {
            noise = 0.95 * noise + rng_uniform(rng) - 0.5;
            of_second += 1000 + noise;
            squares += noise * noise;
        }
        sum += of_second;
        batch_means_add(&b, PER_SECOND, of_second / PER_SECOND);
    }
    mean = sum / (N_SECONDS * PER_SECOND);
    deviation = sqrt(squares / (N_SECONDS * PER_SECOND));
    *n_by_batches += fabs(mean - 1000) < batch_means_error(&b, 95);
    *n_as_independent += fabs(mean - 1000) < 1.96 * deviation / sqrt(N_SECONDS * PER_SECOND);
}

static void intervals_of_95_percent_contain_the_mean_in_95_percent_of_the_runs(void **state)
{
    unsigned n_by_batches = 0, n_as_independent = 0;
    struct rng rng;

    (void)state;
    rng_seed(&rng, 42, 0);
    for (int i = 0; i < N_RUNS; i++)
        run(&rng, &n_by_batches, &n_as_independent);
    print_message("%u of %u by batches, %u as if independent\n", n_by_batches, N_RUNS,
                  n_as_independent);
    assert_in_range(n_by_batches, 920, 970);
    assert_in_range(n_as_independent, 0, 500); /* the control */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_batches_have_no_interval),
        cmocka_unit_test(interval_is_that_of_students_t),
        cmocka_unit_test(small_batch_weighs_little),
        cmocka_unit_test(long_runs_have_longer_batches),
        cmocka_unit_test(intervals_of_95_percent_contain_the_mean_in_95_percent_of_the_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
