/* SPDX-License-Identifier: MIT
 * test_deadlines: the earliest deadline comes first, after any sequence of changes. */
#include "workload/deadlines.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_SLOTS = 50 };

static struct deadlines deadlines;

static int start(void **state)
{
    (void)state;
    return deadlines_init(&deadlines, N_SLOTS);
}

static int stop(void **state)
{
    (void)state;
    deadlines_free(&deadlines);
    return 0;
}

static void without_deadlines_the_next_is_never(void **state)
{
    (void)state;
    assert_true(deadlines_next_ns(&deadlines) == DEADLINES_NEVER);
    deadlines_clear(&deadlines, 3);
    assert_true(deadlines_next_ns(&deadlines) == DEADLINES_NEVER);
}

static void earliest_is_taken_first(void **state)
{
    (void)state;
    deadlines_set(&deadlines, 7, 30);
    deadlines_set(&deadlines, 0, 10);
    deadlines_set(&deadlines, 49, 20);
    assert_int_equal(deadlines_next_ns(&deadlines), 10);
    assert_int_equal(deadlines_take(&deadlines), 0);
    assert_int_equal(deadlines_take(&deadlines), 49);
    assert_int_equal(deadlines_take(&deadlines), 7);
    assert_true(deadlines_next_ns(&deadlines) == DEADLINES_NEVER);
}

static void slot_has_one_deadline_its_last(void **state)
{
    (void)state;
    deadlines_set(&deadlines, 1, 10);
    deadlines_set(&deadlines, 2, 20);
    deadlines_set(&deadlines, 1, 30); /* later */
    assert_int_equal(deadlines_next_ns(&deadlines), 20);
    deadlines_set(&deadlines, 1, 5); /* earlier */
    assert_int_equal(deadlines_take(&deadlines), 1);
    assert_int_equal(deadlines_take(&deadlines), 2);
    assert_int_equal(deadlines.n, 0);
}

static void removed_one_is_not_taken(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        deadlines_set(&deadlines, i, 100 - i);
    deadlines_clear(&deadlines, 9);
    deadlines_clear(&deadlines, 5);
    deadlines_clear(&deadlines, 5);
    for (uint32_t i = 8;; i--) {
        if (i == 5)
            continue;
        assert_int_equal(deadlines_take(&deadlines), i);
        if (i == 0)
            break;
    }
    assert_int_equal(deadlines.n, 0);
}

/* The same kept in an array. */
static void agrees_with_a_search_of_all_deadlines(void **state)
{
    uint64_t all[N_SLOTS];
    struct rng rng;

    (void)state;
    rng_seed(&rng, 1, 0);
    for (int i = 0; i < N_SLOTS; i++)
        all[i] = DEADLINES_NEVER;
    for (int step = 0; step < 20000; step++) {
        const uint32_t slot = rng_below(&rng, N_SLOTS);
        uint64_t earliest = DEADLINES_NEVER;

        switch (rng_below(&rng, 4)) {
        case 0:
        case 1:
            all[slot] = rng_below(&rng, 1000);
            deadlines_set(&deadlines, slot, all[slot]);
            break;
        case 2:
            all[slot] = DEADLINES_NEVER;
            deadlines_clear(&deadlines, slot);
            break;
        default:
            if (deadlines.n > 0) {
                const uint64_t next_ns = deadlines_next_ns(&deadlines);
                const uint32_t taken = deadlines_take(&deadlines);

                assert_int_equal(all[taken], next_ns);
                all[taken] = DEADLINES_NEVER;
            }
        }
        for (int i = 0; i < N_SLOTS; i++)
            earliest = all[i] < earliest ? all[i] : earliest;
        assert_true(deadlines_next_ns(&deadlines) == earliest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_deadlines_the_next_is_never, start, stop),
        cmocka_unit_test_setup_teardown(earliest_is_taken_first, start, stop),
        cmocka_unit_test_setup_teardown(slot_has_one_deadline_its_last, start, stop),
        cmocka_unit_test_setup_teardown(removed_one_is_not_taken, start, stop),
        cmocka_unit_test_setup_teardown(agrees_with_a_search_of_all_deadlines, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
