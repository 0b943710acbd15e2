/* SPDX-License-Identifier: MIT
 * test_hist_percentiles: ranks, values beyond, and when a percentile is printed. */
#include "hist_steps.h"

#include "measure/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct fraction {
    uint32_t num, den;
};

static const struct fraction fractions[] = {
    {1, 1000000},  {1, 100},          {1, 4},    {1, 3},    {1, 2},
    {2, 3},        {9, 10},           {95, 100}, {99, 100}, {999, 1000},
    {9999, 10000}, {999999, 1000000}, {1, 1},
};

static void without_samples_every_percentile_is_0(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    for (size_t i = 0; i < N_OF(fractions); i++)
        assert_int_equal(hist_percentile(&h, fractions[i].num, fractions[i].den), 0);
    hist_free(&h);
}

/* With values 1..n, exact below 2,048, the percentile equals the rank. */
static void the_rank_is_the_exact_ceiling(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    for (uint64_t n = 1; n < HIST_SUB_BUCKETS; n++) {
        hist_record(&h, n);
        for (size_t i = 0; i < N_OF(fractions); i++) {
            const struct fraction q = fractions[i];

            assert_int_equal(hist_percentile(&h, q.num, q.den), (n * q.num + q.den - 1) / q.den);
        }
    }
    hist_free(&h);
    start(&h);
    for (uint64_t n = 1; n <= 1000; n++)
        hist_record(&h, n);
    assert_int_equal(hist_percentile(&h, 999, 1000), 999);
    assert_int_equal(hist_percentile(&h, 99, 100), 990);
    assert_int_equal(hist_percentile(&h, 1, 2), 500);
    hist_free(&h);
}

static void samples_without_value_are_beyond_all_others(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    for (uint64_t n = 1; n <= 1000; n++)
        hist_record(&h, n);
    for (uint64_t n_beyond = 0; n_beyond < 3000; n_beyond++, hist_record_beyond(&h, 1)) {
        for (size_t i = 0; i < N_OF(fractions); i++) {
            const struct fraction q = fractions[i];
            const uint64_t rank = ((1000 + n_beyond) * q.num + q.den - 1) / q.den;

            assert_int_equal(hist_percentile(&h, q.num, q.den), rank > 1000 ? HIST_BEYOND : rank);
        }
    }
    assert_int_equal(h.count, 1000);
    assert_int_equal(h.max_ns, 1000);
    hist_reset(&h);
    assert_int_equal(h.beyond, 0);
    hist_record_beyond(&h, 1);
    assert_int_equal(hist_percentile(&h, 1, 1000000), HIST_BEYOND);
    hist_free(&h);
}

static void huge_counts_do_not_overflow_the_rank(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    hist_record(&h, 100);
    hist_record_beyond(&h, 1ull << 62);
    assert_int_equal(hist_percentile(&h, 999999, 1000000), HIST_BEYOND);
    hist_reset(&h);
    hist_record(&h, 100);
    h.counts[hist_index(100)] = h.count = 1ull << 62;
    hist_record(&h, 200);
    assert_int_equal(hist_percentile(&h, 999999, 1000000), 100);
    assert_int_equal(hist_percentile(&h, 1, 1), 200);
    hist_free(&h);
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void percentiles_agree_with_a_sorted_array(void **state)
{
    uint64_t *values = calloc(N_VALUES, sizeof *values), random = 99;
    struct hist h;

    (void)state;
    assert_non_null(values);
    start(&h);
    for (size_t i = 0; i < N_VALUES; i++) {
        values[i] = random_value(&random);
        hist_record(&h, values[i]);
    }
    qsort(values, N_VALUES, sizeof *values, compare_values);
    for (size_t i = 0; i < N_OF(fractions); i++) {
        const struct fraction q = fractions[i];
        const uint64_t exact = values[((uint64_t)N_VALUES * q.num + q.den - 1) / q.den - 1];
        const uint64_t highest = hist_highest_of(hist_index(exact));

        assert_int_equal(hist_percentile(&h, q.num, q.den),
                         highest < h.max_ns ? highest : h.max_ns);
    }
    assert_int_equal(h.min_ns, values[0]);
    assert_int_equal(h.max_ns, values[N_VALUES - 1]);
    hist_free(&h);
    free(values);
}

static void a_percentile_is_limited_by_the_exact_maximum(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    hist_record(&h, 1000000000);
    assert_true(hist_highest_of(hist_index(1000000000)) > 1000000000);
    assert_int_equal(hist_percentile(&h, 1, 2), 1000000000);
    hist_record(&h, 2000000000);
    assert_int_equal(hist_percentile(&h, 1, 2), hist_highest_of(hist_index(1000000000)));
    assert_int_equal(hist_percentile(&h, 1, 1), 2000000000);
    hist_free(&h);
}

static void values_above_a_bucket_are_counted_exactly(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    assert_int_equal(hist_count_above(&h, 0), 0);
    hist_record_beyond(&h, 3);
    assert_int_equal(hist_count_above(&h, HIST_HIGHEST_NS), 3);
    for (uint64_t ms = 1; ms <= 1000; ms++)
        hist_record(&h, ms * 1000000);
    for (uint64_t ms = 1; ms <= 1000; ms += 37) {
        assert_int_equal(hist_count_above(&h, ms * 1000000), 1000 - ms + 3);
        assert_int_equal(hist_count_above(&h, hist_highest_of(hist_index(ms * 1000000))),
                         1000 - ms + 3);
        assert_int_equal(hist_count_above(&h, hist_lowest_of(hist_index(ms * 1000000)) - 1),
                         1001 - ms + 3);
    }
    hist_record(&h, 2 * HIST_HIGHEST_NS); /* counts as 1 h */
    assert_int_equal(hist_count_above(&h, HIST_HIGHEST_NS), 3);
    assert_int_equal(hist_count_above(&h, HIST_HIGHEST_NS / 2), 1 + 3);
    hist_free(&h);
}

/* As recoveries after an outage of hours. */
static void a_percentile_above_an_hour_is_the_maximum(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    hist_record(&h, 1000);
    hist_record(&h, HIST_HIGHEST_NS - 1);
    assert_int_equal(hist_percentile(&h, 1, 1), HIST_HIGHEST_NS - 1);
    hist_record(&h, 7 * HIST_HIGHEST_NS);
    hist_record(&h, 8 * HIST_HIGHEST_NS);
    assert_int_equal(hist_percentile(&h, 1, 4), 1000);
    assert_int_equal(hist_percentile(&h, 3, 4), 8 * HIST_HIGHEST_NS);
    assert_int_equal(hist_percentile(&h, 1, 1), 8 * HIST_HIGHEST_NS);
    assert_int_equal(hist_value_of(&h, hist_index(HIST_HIGHEST_NS)), 8 * HIST_HIGHEST_NS);
    hist_free(&h);
}

static void a_percentile_needs_ten_samples_beyond_it(void **state)
{
    static const struct {
        struct fraction q;
        uint64_t least;
    } cases[] = {{{1, 2}, 20},         {{9, 10}, 100},
                 {{95, 100}, 200},     {{99, 100}, 1000},
                 {{999, 1000}, 10000}, {{9999, 10000}, 100000},
                 {{1, 3}, 15},         {{999999, 1000000}, 10000000}};
    struct hist h;

    (void)state;
    start(&h);
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct fraction q = cases[i].q;

        h.count = cases[i].least - 1;
        assert_false(hist_percentile_is_supported(&h, q.num, q.den));
        h.beyond = 1;
        assert_true(hist_percentile_is_supported(&h, q.num, q.den));
        h.beyond = 0;
        h.count = cases[i].least;
        assert_true(hist_percentile_is_supported(&h, q.num, q.den));
        h.count = 0;
        h.beyond = cases[i].least;
        assert_true(hist_percentile_is_supported(&h, q.num, q.den));
        h.beyond--;
        assert_false(hist_percentile_is_supported(&h, q.num, q.den));
        h.beyond = 0;
    }
    h.count = 1000000000;
    assert_false(hist_percentile_is_supported(&h, 1, 1));
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_samples_every_percentile_is_0),
        cmocka_unit_test(the_rank_is_the_exact_ceiling),
        cmocka_unit_test(samples_without_value_are_beyond_all_others),
        cmocka_unit_test(huge_counts_do_not_overflow_the_rank),
        cmocka_unit_test(percentiles_agree_with_a_sorted_array),
        cmocka_unit_test(a_percentile_is_limited_by_the_exact_maximum),
        cmocka_unit_test(values_above_a_bucket_are_counted_exactly),
        cmocka_unit_test(a_percentile_above_an_hour_is_the_maximum),
        cmocka_unit_test(a_percentile_needs_ten_samples_beyond_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
