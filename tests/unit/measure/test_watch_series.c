/* SPDX-License-Identifier: MIT
 * test_watch_series: many samples, and their keys. */
#include "measure/watch_series.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void add(struct watch_series *s, uint64_t epoch_ns, uint64_t drops)
{
    struct watch_sample sample;

    watch_sample_init(&sample);
    sample.at[WATCH_EPOCH_NS] = epoch_ns;
    sample.at[WATCH_LISTEN_DROPS] = drops;
    assert_int_equal(watch_series_add(s, &sample), 0);
}

static void every_key_names_its_figure(void **state)
{
    (void)state;
    for (int i = 0; i < WATCH_N_FIGURES; i++)
        assert_int_equal(watch_figure_of(watch_figure_key((enum watch_figure)i)), i);
    assert_int_equal(watch_figure_of("moon"), WATCH_N_FIGURES);
}

static void too_many_samples_are_thinned_evenly(void **state)
{
    struct watch_series s = {0};

    (void)state;
    for (uint64_t i = 0; i < 5 * WATCH_SERIES_MOST; i++)
        add(&s, i, 0);
    assert_true(s.n <= WATCH_SERIES_MOST && s.n > WATCH_SERIES_MOST / 2);
    assert_int_equal(s.every, 8);
    for (size_t i = 0; i + 1 < s.n; i++)
        assert_int_equal(s.items[i].at[WATCH_EPOCH_NS], 8 * i);
    watch_series_free(&s);
}

static void newest_sample_is_kept(void **state)
{
    struct watch_series s = {0};

    (void)state;
    for (uint64_t i = 0; i < 3 * WATCH_SERIES_MOST; i++) {
        add(&s, i, 2 * i);
        assert_true(s.n <= WATCH_SERIES_MOST);
        assert_int_equal(s.items[s.n - 1].at[WATCH_EPOCH_NS], i);
        assert_true(s.n == 1 || s.items[s.n - 2].at[WATCH_EPOCH_NS] < i);
    }
    assert_int_equal(s.every, 4);
    assert_int_equal(watch_series_growth(&s, WATCH_LISTEN_DROPS), 2 * (3 * WATCH_SERIES_MOST - 1));
    watch_series_free(&s);
}

static void fixed_samples_are_never_dropped(void **state)
{
    static const uint64_t n_before[] = {1, 1000, 1001, WATCH_SERIES_MOST / 2};

    (void)state;
    for (size_t k = 0; k < sizeof n_before / sizeof *n_before; k++) {
        const uint64_t n = n_before[k];
        struct watch_series s = {0};

        for (uint64_t i = 0; i < n + 3 * WATCH_SERIES_MOST; i++) {
            if (i >= n)
                watch_series_fix(&s);
            add(&s, i, 0);
            assert_true(s.n <= WATCH_SERIES_MOST);
            assert_int_equal(s.items[s.n - 1].at[WATCH_EPOCH_NS], i);
        }
        assert_true(s.every > 1);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(s.items[i].at[WATCH_EPOCH_NS], i);
        for (uint64_t i = n; i + 1 < s.n; i++)
            assert_int_equal(s.items[i].at[WATCH_EPOCH_NS], n + (i - n) * s.every);
        watch_series_free(&s);
    }
}

static void at_most_half_of_the_samples_are_fixed(void **state)
{
    struct watch_series s = {0};

    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        add(&s, i, 0);
    watch_series_fix(&s);
    assert_int_equal(s.n, 2500);
    add(&s, 5000, 0);
    add(&s, 5001, 0);
    assert_int_equal(s.n, 2502);
    assert_int_equal(s.items[2499].at[WATCH_EPOCH_NS], 4998);
    assert_int_equal(s.items[2501].at[WATCH_EPOCH_NS], 5001);
    watch_series_free(&s);
    s = (struct watch_series){0};
    for (uint64_t i = 0; i <= 4 * WATCH_SERIES_MOST; i++)
        add(&s, i, 0);
    assert_true(s.every > 1);
    watch_series_fix(&s);
    for (uint64_t i = 1; i <= 100; i++) { /* thinned no more */
        add(&s, 4 * WATCH_SERIES_MOST + i, 0);
        assert_int_equal(s.n, s.n_fixed + i);
    }
    watch_series_free(&s);
}

static void extremes_are_those_of_all_samples(void **state)
{
    struct watch_series s = {0};

    (void)state;
    for (uint64_t i = 0; i < 2 * WATCH_SERIES_MOST; i++)
        add(&s, i, i == 4097 ? 500u : i == 4099 ? 3u : 10u);
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(s.items[i].at[WATCH_LISTEN_DROPS], 10); /* neither of the two is kept */
    assert_int_equal(watch_series_most(&s, WATCH_LISTEN_DROPS), 500);
    assert_int_equal(watch_series_least(&s, WATCH_LISTEN_DROPS), 3);
    watch_series_free(&s);
}

static void unknown_values_are_skipped(void **state)
{
    static const uint64_t values[] = {WATCH_UNKNOWN, 5, WATCH_UNKNOWN, 9, 7, WATCH_UNKNOWN};
    struct watch_series s = {0};

    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        add(&s, i, values[i]);
    assert_int_equal(watch_series_most(&s, WATCH_LISTEN_DROPS), 9);
    assert_int_equal(watch_series_least(&s, WATCH_LISTEN_DROPS), 5);
    assert_int_equal(watch_series_growth(&s, WATCH_LISTEN_DROPS), 2);
    assert_int_equal(watch_series_most(&s, WATCH_FDS), WATCH_UNKNOWN);
    assert_int_equal(watch_series_least(&s, WATCH_FDS), WATCH_UNKNOWN);
    assert_int_equal(watch_series_growth(&s, WATCH_FDS), WATCH_UNKNOWN);
    watch_series_free(&s);
}

static void one_sample_does_not_tell_growth_nor_does_a_counter_that_has_fallen(void **state)
{
    struct watch_series s = {0};

    (void)state;
    add(&s, 0, 100);
    assert_int_equal(watch_series_growth(&s, WATCH_LISTEN_DROPS), WATCH_UNKNOWN);
    add(&s, 1, 90);
    assert_int_equal(watch_series_growth(&s, WATCH_LISTEN_DROPS), WATCH_UNKNOWN);
    watch_series_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_names_its_figure),
        cmocka_unit_test(too_many_samples_are_thinned_evenly),
        cmocka_unit_test(newest_sample_is_kept),
        cmocka_unit_test(fixed_samples_are_never_dropped),
        cmocka_unit_test(at_most_half_of_the_samples_are_fixed),
        cmocka_unit_test(extremes_are_those_of_all_samples),
        cmocka_unit_test(unknown_values_are_skipped),
        cmocka_unit_test(one_sample_does_not_tell_growth_nor_does_a_counter_that_has_fallen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
