/* SPDX-License-Identifier: MIT
 * test_hist: buckets, ranges, merging, mean and deviation. */
#include "hist_steps.h"

#include "measure/hist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_close(double a, double expected, double relative)
{
    assert_true(fabs(a - expected) <= relative * fabs(expected));
}

static void assert_empty(const struct hist *h)
{
    for (uint32_t i = 0; i < HIST_COUNTS; i++)
        assert_int_equal(h->counts[i], 0);
    assert_int_equal(h->count, 0);
    assert_int_equal(h->clamped, 0);
    assert_int_equal(h->min_ns, UINT64_MAX);
    assert_int_equal(h->max_ns, 0);
    assert_true(hist_mean_ns(h) >= 0 && hist_mean_ns(h) <= 0);
    assert_true(hist_stddev_ns(h) >= 0 && hist_stddev_ns(h) <= 0);
}

static void buckets_follow_one_another_without_gap(void **state)
{
    (void)state;
    assert_int_equal(hist_lowest_of(0), 0);
    for (uint32_t i = 0; i < HIST_COUNTS; i++) {
        const uint64_t lowest = hist_lowest_of(i), highest = hist_highest_of(i);

        assert_true(lowest <= highest);
        if (i + 1 < HIST_COUNTS)
            assert_int_equal(hist_lowest_of(i + 1), highest + 1);
        if (lowest >= HIST_LOWEST_NS && lowest <= HIST_HIGHEST_NS)
            assert_int_equal(hist_index(lowest), i);
        if (highest >= HIST_LOWEST_NS && highest <= HIST_HIGHEST_NS)
            assert_int_equal(hist_index(highest), i);
    }
    assert_true(hist_highest_of(HIST_COUNTS - 1) >= HIST_HIGHEST_NS);
}

/* The layout of HdrHistogram for lowest value 1 and 3 digits, used when writing files. */
static void the_layout_is_that_of_hdrhistogram(void **state)
{
    static const struct {
        uint64_t value;
        uint32_t index;
        uint64_t lowest, highest;
    } cases[] = {
        {1, 1, 1, 1},
        {1023, 1023, 1023, 1023},
        {2047, 2047, 2047, 2047},
        {2048, 2048, 2048, 2049},
        {2049, 2048, 2048, 2049},
        {4095, 3071, 4094, 4095},
        {4096, 3072, 4096, 4099},
        {8191, 4095, 8188, 8191},
        {8192, 4096, 8192, 8199},
        {1ull << 41, 32768, 1ull << 41, (1ull << 41) + (1ull << 31) - 1},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(hist_index(cases[i].value), cases[i].index);
        assert_int_equal(hist_lowest_of(cases[i].index), cases[i].lowest);
        assert_int_equal(hist_highest_of(cases[i].index), cases[i].highest);
    }
}

static void assert_in_own_bucket(uint64_t value)
{
    const uint32_t index = hist_index(value);

    assert_true(index < HIST_COUNTS);
    assert_true(hist_lowest_of(index) <= value);
    assert_true(hist_highest_of(index) >= value);
    assert_true((hist_highest_of(index) - hist_lowest_of(index)) * 1000 <= value);
}

static void values_have_three_significant_digits(void **state)
{
    uint64_t random = 42;

    (void)state;
    for (int bit = 1; bit < 42; bit++)
        for (uint64_t d = 0; d < 3; d++)
            if ((1ull << bit) + d - 1 <= HIST_HIGHEST_NS)
                assert_in_own_bucket((1ull << bit) + d - 1);
    for (int i = 0; i < 1000000; i++)
        assert_in_own_bucket(random_value(&random));
    assert_in_own_bucket(HIST_LOWEST_NS);
    assert_in_own_bucket(HIST_HIGHEST_NS - 1);
    assert_in_own_bucket(HIST_HIGHEST_NS);
}

static void values_out_of_range_go_to_the_nearest_bucket(void **state)
{
    (void)state;
    assert_int_equal(hist_index(0), hist_index(HIST_LOWEST_NS));
    assert_int_equal(hist_index(HIST_HIGHEST_NS + 1), hist_index(HIST_HIGHEST_NS));
    assert_int_equal(hist_index(UINT64_MAX), hist_index(HIST_HIGHEST_NS));
}

static void clamped_values_are_counted_and_extremes_stay_exact(void **state)
{
    static const uint64_t values[] = {5000001,   1, HIST_HIGHEST_NS, 0, HIST_HIGHEST_NS + 1,
                                      UINT64_MAX};
    static const uint64_t n_clamped[] = {0, 0, 0, 1, 2, 3};
    uint64_t min = UINT64_MAX, max = 0;
    struct hist h;

    (void)state;
    start(&h);
    for (size_t i = 0; i < N_OF(values); i++) {
        hist_record(&h, values[i]);
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
        assert_int_equal(h.count, i + 1);
        assert_int_equal(h.clamped, n_clamped[i]);
        assert_int_equal(h.min_ns, min);
        assert_int_equal(h.max_ns, max);
    }
    assert_int_equal(h.counts[hist_index(HIST_LOWEST_NS)], 2);
    assert_int_equal(h.counts[hist_index(HIST_HIGHEST_NS)], 3);
    hist_free(&h);
}

static void a_histogram_is_empty_at_first_and_after_reset(void **state)
{
    uint64_t random = 7;
    struct hist h;

    (void)state;
    start(&h);
    assert_empty(&h);
    for (int i = 0; i < 1000; i++)
        hist_record(&h, random_value(&random));
    hist_record(&h, 0);
    hist_reset(&h);
    assert_empty(&h);
    hist_record(&h, 17);
    assert_int_equal(hist_percentile(&h, 1, 2), 17);
    hist_free(&h);
}

static void merging_equals_recording_all_in_one(void **state)
{
    struct hist parts[4], merged, all;
    uint64_t random = 4711;

    (void)state;
    start(&merged);
    start(&all);
    for (size_t k = 0; k < N_OF(parts); k++) {
        start(&parts[k]);
        for (size_t i = 0; i < 10000 * k; i++) { /* parts[0] stays empty */
            const uint64_t value =
                i % 1000 == 0 ? HIST_HIGHEST_NS + i * k : random_value(&random) >> (8 * k);

            hist_record(&parts[k], value);
            hist_record(&all, value);
        }
    }
    for (size_t k = 0; k < N_OF(parts); k++)
        hist_merge(&merged, &parts[k]);
    assert_memory_equal(merged.counts, all.counts, HIST_COUNTS * sizeof *all.counts);
    assert_int_equal(merged.count, 60000);
    assert_int_equal(merged.count, all.count);
    assert_true(merged.clamped > 0);
    assert_int_equal(merged.clamped, all.clamped);
    assert_int_equal(merged.min_ns, all.min_ns);
    assert_int_equal(merged.max_ns, all.max_ns);
    assert_true(hist_total(merged.sum_ns) == hist_total(all.sum_ns));
    assert_true(hist_total(merged.sum_ns2) == hist_total(all.sum_ns2));
    for (size_t k = 0; k < N_OF(parts); k++)
        hist_free(&parts[k]);
    hist_free(&merged);
    hist_free(&all);
}

/* The mean is 515, and they differ from it by 505 and 495. */
static void parts_with_different_means_deviate_from_that_of_all(void **state)
{
    struct hist a, b;

    (void)state;
    start(&a);
    start(&b);
    hist_record(&a, 10);
    hist_record(&a, 20);
    hist_record(&b, 1010);
    hist_record(&b, 1020);
    hist_merge(&a, &b);
    assert_close(hist_mean_ns(&a), 515, 1e-12);
    assert_close(hist_stddev_ns(&a), sqrt((2 * 505.0 * 505 + 2 * 495.0 * 495) / 3), 1e-12);
    hist_free(&a);
    hist_free(&b);
}

static void merging_adds_the_samples_beyond(void **state)
{
    struct hist a, b;

    (void)state;
    start(&a);
    start(&b);
    hist_record_beyond(&b, 7);
    hist_merge(&a, &b); /* has no values */
    hist_record(&b, 10);
    hist_merge(&a, &b);
    assert_int_equal(a.beyond, 14);
    assert_int_equal(a.count, 1);
    hist_free(&a);
    hist_free(&b);
}

static void the_bucket_of_samples_beyond_has_no_values(void **state)
{
    (void)state;
    assert_true(hist_index(UINT64_MAX) < HIST_BEYOND_INDEX);
    assert_true(hist_lowest_of(HIST_BEYOND_INDEX) > HIST_HIGHEST_NS);
    assert_int_equal(hist_highest_of(HIST_BEYOND_INDEX), (1ull << 42) - 1);
}

static void merging_an_empty_one_changes_nothing(void **state)
{
    struct hist a, b;

    (void)state;
    start(&a);
    start(&b);
    hist_merge(&a, &b);
    assert_empty(&a);
    hist_record(&a, 10);
    hist_record(&a, 30);
    hist_merge(&a, &b);
    assert_int_equal(a.count, 2);
    assert_int_equal(a.min_ns, 10);
    assert_int_equal(a.max_ns, 30);
    assert_close(hist_mean_ns(&a), 20, 1e-15);
    hist_merge(&b, &a);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.min_ns, 10);
    assert_close(hist_stddev_ns(&b), sqrt(200), 1e-15);
    hist_free(&a);
    hist_free(&b);
}

static void mean_and_deviation_agree_with_two_passes(void **state)
{
    static const struct {
        uint64_t base, spread;
        double relative;
    } cases[] = {
        {0, 1000000, 1e-9}, {50000, 7, 1e-9}, {1000000000, 1000, 1e-7}, {1, 3000000000000, 1e-9}};

    (void)state;
    for (size_t c = 0; c < N_OF(cases); c++) {
        uint64_t *values = calloc(N_VALUES, sizeof *values), random = 5 + c;
        long double mean = 0, sum = 0;
        struct hist h;

        assert_non_null(values);
        start(&h);
        for (size_t i = 0; i < N_VALUES; i++) {
            values[i] = cases[c].base + next_random(&random) % cases[c].spread;
            mean += (long double)values[i] / N_VALUES;
            hist_record(&h, values[i]);
        }
        for (size_t i = 0; i < N_VALUES; i++)
            sum += ((long double)values[i] - mean) * ((long double)values[i] - mean);
        assert_close(hist_mean_ns(&h), (double)mean, 1e-12);
        assert_close(hist_stddev_ns(&h), (double)sqrtl(sum / (N_VALUES - 1)), cases[c].relative);
        hist_free(&h);
        free(values);
    }
}

/* They differ by no more than 4 ns, however large they are, although their squares add up to more
 * than 2^128. */
static void the_deviation_of_enormous_values_is_exact(void **state)
{
    static const uint64_t most = UINT64_MAX;
    struct hist h;

    (void)state;
    start(&h);
    for (uint64_t k = 0; k < 5; k++)
        hist_record(&h, most - k);
    assert_close(hist_mean_ns(&h), (double)(most - 2), 1e-15);
    assert_close(hist_stddev_ns(&h), sqrt((4 + 1 + 0 + 1 + 4) / 4.0), 1e-15);
    hist_free(&h);
}

static void moments_can_be_set(void **state)
{
    static const uint64_t values[] = {7, 1000, 123456789, 123456790};
    struct hist h, copy;

    (void)state;
    start(&h);
    start(&copy);
    hist_set_moments(&copy, 3, 4);
    assert_true(hist_total(copy.sum_ns) == 0 &&
                hist_total(copy.sum_ns2) == 0); /* those of no values */
    for (size_t i = 0; i < N_OF(values); i++)
        hist_record(&h, values[i]);
    copy.count = h.count;
    hist_set_moments(&copy, hist_mean_ns(&h), hist_stddev_ns(&h));
    assert_true(hist_total(copy.sum_ns) == hist_total(h.sum_ns));
    assert_close(hist_stddev_ns(&copy), hist_stddev_ns(&h), 1e-15);
    hist_set_moments(&copy, 1e18, 1e18);
    assert_close(hist_mean_ns(&copy), 1e18, 1e-15);
    assert_close(hist_stddev_ns(&copy), 1e18, 1e-15);
    copy.count = UINT64_MAX; /* too much for 128 bits */
    hist_set_moments(&copy, 1e19, 1e19);
    assert_true(hist_mean_ns(&copy) > 0 && hist_stddev_ns(&copy) >= 0);
    hist_free(&h);
    hist_free(&copy);
}

static void the_deviation_of_fewer_than_two_values_is_0(void **state)
{
    struct hist h;

    (void)state;
    start(&h);
    hist_record(&h, 123456);
    assert_true(hist_stddev_ns(&h) >= 0 && hist_stddev_ns(&h) <= 0);
    hist_record(&h, 123458);
    assert_close(hist_stddev_ns(&h), sqrt(2), 1e-12);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_one_another_without_gap),
        cmocka_unit_test(the_layout_is_that_of_hdrhistogram),
        cmocka_unit_test(values_have_three_significant_digits),
        cmocka_unit_test(values_out_of_range_go_to_the_nearest_bucket),
        cmocka_unit_test(clamped_values_are_counted_and_extremes_stay_exact),
        cmocka_unit_test(a_histogram_is_empty_at_first_and_after_reset),
        cmocka_unit_test(merging_equals_recording_all_in_one),
        cmocka_unit_test(parts_with_different_means_deviate_from_that_of_all),
        cmocka_unit_test(merging_adds_the_samples_beyond),
        cmocka_unit_test(the_bucket_of_samples_beyond_has_no_values),
        cmocka_unit_test(merging_an_empty_one_changes_nothing),
        cmocka_unit_test(mean_and_deviation_agree_with_two_passes),
        cmocka_unit_test(the_deviation_of_enormous_values_is_exact),
        cmocka_unit_test(moments_can_be_set),
        cmocka_unit_test(the_deviation_of_fewer_than_two_values_is_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
