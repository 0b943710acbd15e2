/* SPDX-License-Identifier: MIT
 * test_search_load: the loads that are tried, and steps from one to the next. */
#include "client/search/search_load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct search_config rates = {.min = 10, .max = 1e6};
static const struct search_config connections = {.min = 10, .max = 1e6, .whole = true};

static void loads_have_four_digits_or_are_integers(void **state)
{
    (void)state;
    assert_true(search_load_round(&rates, 47574.9) == 47570);
    assert_true(search_load_round(&rates, 47575.1) == 47580);
    assert_true(fabs(search_load_round(&rates, 12.3456) - 12.35) < 1e-9);
    assert_true(search_load_round(&connections, 47574.9) == 47575);
    assert_true(search_load_round(&rates, 3) == 10);
    assert_true(search_load_round(&rates, 3e6) == 1e6);
}

static double number(int digits, int exponent)
{
    char text[32];

    snprintf(text, sizeof text, "%de%d", digits, exponent);
    return strtod(text, NULL);
}

/* 8,944 * 0.1 is not 894.4. */
static void loads_are_the_numbers_that_they_print_as(void **state)
{
    static const struct search_config wide = {.min = 0.01, .max = 1e9};

    (void)state;
    for (int exponent = -4; exponent <= 3; exponent++)
        for (int digits = 1001; digits < 10000; digits++) {
            const double load = number(digits, exponent);

            assert_true(search_load_round(&wide, load) == load);
            assert_true(search_load_below(&wide, 2 * load, log(2)) == load);
            assert_true(search_load_above(&wide, load / 2, log(2)) == load);
            assert_true(search_load_below(&wide, number(digits + 1, exponent), 1e-9) == load);
            assert_true(search_load_above(&wide, number(digits - 1, exponent), 1e-9) == load);
        }
}

/* 0.95 of 47,570 is 45,191.5: 45,190 would be 5.003 % below it, and a round to 5 % not over. */
static void no_step_is_wider_than_requested(void **state)
{
    static const double widths[] = {0.001, 0.01, 0.02, 0.05, 0.2, 0.5};

    (void)state;
    assert_true(search_load_below(&rates, 47570, -log(0.95)) == 45200);
    assert_true(search_load_above(&rates, 45191, -log(0.95)) == 47560);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (double x = 1000; x < 100000; x *= 1.0117) {
            const double load = search_load_round(&rates, x), step = -log(1 - widths[i]);
            const double below = search_load_below(&rates, load, step);
            const double above = search_load_above(&rates, load, step);

            assert_true(below < load && 1 - below / load <= widths[i] + 1e-9);
            assert_true(above > load && 1 - load / above <= widths[i] + 1e-9);
            assert_true(1 - below / load > widths[i] - 0.001);
            assert_true(1 - load / above > widths[i] - 0.001);
        }
}

static void steps_double_exactly(void **state)
{
    (void)state;
    for (double load = 10; load < 50000; load *= 2) {
        assert_true(fabs(search_load_above(&rates, load, log(2)) / load - 2) < 1e-9);
        assert_true(fabs(search_load_below(&rates, 2 * load, log(2)) / load - 1) < 1e-9);
    }
}

static void integers_differ_by_at_least_one(void **state)
{
    (void)state;
    assert_true(search_load_below(&connections, 12, 0.02) == 11);
    assert_true(search_load_above(&connections, 12, 0.02) == 13);
}

static void between_neighbours_is_no_load(void **state)
{
    (void)state;
    assert_true(search_load_middle(&connections, 12, 14) == 13);
    assert_true(search_load_middle(&connections, 12, 13) == 0);
    assert_true(search_load_middle(&rates, 12, 13) == 12.49);
    assert_true(search_load_middle(&rates, 12.49, 12.5) == 0);
}

static void no_step_leaves_the_range(void **state)
{
    (void)state;
    assert_true(search_load_below(&rates, 10, 0.5) == 10);
    assert_true(search_load_below(&rates, 11, 0.5) == 10);
    assert_true(search_load_above(&rates, 1e6, 0.5) == 1e6);
    assert_true(search_load_above(&connections, 999999, 0.5) == 1e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_have_four_digits_or_are_integers),
        cmocka_unit_test(loads_are_the_numbers_that_they_print_as),
        cmocka_unit_test(no_step_is_wider_than_requested),
        cmocka_unit_test(steps_double_exactly),
        cmocka_unit_test(integers_differ_by_at_least_one),
        cmocka_unit_test(between_neighbours_is_no_load),
        cmocka_unit_test(no_step_leaves_the_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
