/* SPDX-License-Identifier: MIT
 * test_load: when trials decide a load, and when they do not yet. */
#include "client/search/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 11 trials of 2 s. */
static enum load_class of_full(double n_good, double n_bad)
{
    return load_classify(&(struct load_sums){.full_good_s = 2 * n_good, .full_bad_s = 2 * n_bad},
                         22);
}

static void six_of_eleven_decide(void **state)
{
    (void)state;
    assert_int_equal(of_full(0, 0), LOAD_UNDECIDED);
    assert_int_equal(of_full(5, 0), LOAD_UNDECIDED);
    assert_int_equal(of_full(6, 0), LOAD_LOWER_BOUND);
    assert_int_equal(of_full(6, 5), LOAD_LOWER_BOUND);
    assert_int_equal(of_full(5, 5), LOAD_UNDECIDED);
    assert_int_equal(of_full(0, 5), LOAD_UNDECIDED);
    assert_int_equal(of_full(0, 6), LOAD_UPPER_BOUND);
    assert_int_equal(of_full(5, 6), LOAD_UPPER_BOUND);
}

static void one_trial_decides_where_one_is_enough(void **state)
{
    (void)state;
    assert_int_equal(load_classify(&(struct load_sums){.full_good_s = 1}, 1), LOAD_LOWER_BOUND);
    assert_int_equal(load_classify(&(struct load_sums){.full_bad_s = 1}, 1), LOAD_UPPER_BOUND);
}

static void more_trials_than_needed_are_all_weighed(void **state)
{
    (void)state;
    assert_int_equal(of_full(20, 19), LOAD_LOWER_BOUND);
    assert_int_equal(of_full(19, 20), LOAD_UPPER_BOUND);
}

/* Five of ten trials. */
static void half_of_the_trials_decide_that_a_load_is_sustained_and_not_that_it_is_not(void **state)
{
    (void)state;
    assert_int_equal(load_classify(&(struct load_sums){.full_good_s = 10}, 20), LOAD_LOWER_BOUND);
    assert_int_equal(load_classify(&(struct load_sums){.full_bad_s = 10}, 20), LOAD_UNDECIDED);
}

/* A bad short trial counts unless a good one balances it; a good one counts for nothing else. */
static void short_trials_can_only_speak_against_a_load(void **state)
{
    const struct load_sums good = {.short_good_s = 100}, bad = {.short_bad_s = 12},
                           balanced = {.short_good_s = 12, .short_bad_s = 12},
                           both = {.full_bad_s = 10, .short_bad_s = 2};

    (void)state;
    assert_int_equal(load_classify(&good, 22), LOAD_UNDECIDED);
    assert_int_equal(load_classify(&bad, 22), LOAD_UPPER_BOUND);
    assert_int_equal(load_classify(&balanced, 22), LOAD_UNDECIDED);
    assert_int_equal(load_classify(&both, 22), LOAD_UPPER_BOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_of_eleven_decide),
        cmocka_unit_test(one_trial_decides_where_one_is_enough),
        cmocka_unit_test(more_trials_than_needed_are_all_weighed),
        cmocka_unit_test(half_of_the_trials_decide_that_a_load_is_sustained_and_not_that_it_is_not),
        cmocka_unit_test(short_trials_can_only_speak_against_a_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
