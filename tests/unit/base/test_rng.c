/* SPDX-License-Identifier: MIT
 * test_rng: the same numbers for the same seed, and the distributions. */
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DRAWS = 1000000, CELLS = 100 };

static void same_seed_and_stream_give_the_same_numbers(void **state)
{
    struct rng a, b, other_stream, other_seed;
    int same_stream = 0, same_seed = 0;

    (void)state;
    rng_seed(&a, 42, 3);
    rng_seed(&b, 42, 3);
    rng_seed(&other_stream, 42, 4);
    rng_seed(&other_seed, 43, 3);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_next(&a);

        assert_int_equal(x, rng_next(&b));
        same_stream += x == rng_next(&other_stream);
        same_seed += x == rng_next(&other_seed);
    }
    assert_int_equal(same_stream, 0);
    assert_int_equal(same_seed, 0);
}

/* Computed from the published algorithm with the state {1, 2, 3, 4}. */
static void generator_is_xoshiro256_starstar(void **state)
{
    static const uint64_t first[] = {11520, 0, 1509978240, 1215971899390074240};
    struct rng r = {{1, 2, 3, 4}};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(rng_next(&r), first[i]);
}

static void numbers_below_n_are_uniform(void **state)
{
    unsigned counts[CELLS] = {0};
    const double expected = (double)DRAWS / CELLS;
    double chi2 = 0;
    struct rng r;

    (void)state;
    rng_seed(&r, 1, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint32_t x = rng_below(&r, CELLS);

        assert_in_range(x, 0, CELLS - 1);
        counts[x]++;
    }
    for (int i = 0; i < CELLS; i++)
        chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
    assert_true(chi2 < 149); /* 99 degrees of freedom, p = 0.001 */
    assert_true(chi2 > 55);  /* and not more even than chance allows */
    assert_int_equal(rng_below(&r, 1), 0);
}

/* With n = 3 * 2^30 a plain multiplication would give each third value twice as often. */
static void numbers_below_a_large_n_have_no_bias(void **state)
{
    const uint32_t n = 3u << 30;
    unsigned thirds[3] = {0};
    struct rng r;

    (void)state;
    rng_seed(&r, 2, 0);
    for (int i = 0; i < DRAWS; i++)
        thirds[rng_below(&r, n) % 3]++;
    for (int i = 0; i < 3; i++)
        assert_true(fabs(thirds[i] - DRAWS / 3.0) < 2500); /* 5 standard deviations */
}

static void uniform_is_in_the_half_open_interval(void **state)
{
    double sum = 0;
    struct rng r;

    (void)state;
    rng_seed(&r, 3, 0);
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_uniform(&r);

        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 0.0015);
}

static void exponential_has_mean_and_deviation_one(void **state)
{
    double sum = 0, squares = 0, mean;
    struct rng r;

    (void)state;
    rng_seed(&r, 4, 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = rng_exponential(&r);

        assert_true(x >= 0 && isfinite(x));
        sum += x;
        squares += x * x;
    }
    mean = sum / DRAWS;
    assert_true(fabs(mean - 1) < 0.01);
    assert_true(fabs(squares / DRAWS - mean * mean - 1) < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_and_stream_give_the_same_numbers),
        cmocka_unit_test(generator_is_xoshiro256_starstar),
        cmocka_unit_test(numbers_below_n_are_uniform),
        cmocka_unit_test(numbers_below_a_large_n_have_no_bias),
        cmocka_unit_test(uniform_is_in_the_half_open_interval),
        cmocka_unit_test(exponential_has_mean_and_deviation_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
