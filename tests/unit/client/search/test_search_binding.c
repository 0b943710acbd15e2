/* SPDX-License-Identifier: MIT
 * test_search_binding: which judgment decided a load. */
#include "client/search/search_binding.h"

#include "simulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct search_config config = SIMULATED_CONFIG(10000000);

static struct search s;

static void the_goal_missed_most_often_is_the_limit(void **state)
{
    static const struct trial_judgment other = {TRIAL_BAD, TRIAL_GOAL, 1},
                                       queue = {TRIAL_BAD, TRIAL_QUEUE, 0};
    struct search_order order;

    (void)state;
    search_init(&s, &config);
    assert_null(search_binding(&s, 1000, TRIAL_BAD));
    assert_true(search_next(&s, 0, &order));
    search_take(&s, GOOD);
    search_take(&s, queue);
    assert_int_equal(search_binding(&s, 1000, TRIAL_BAD)->reason, TRIAL_QUEUE);
    search_take(&s, other);
    search_take(&s, other);
    search_take(&s, BAD); /* nor is it the last one */
    assert_int_equal(search_binding(&s, 1000, TRIAL_BAD)->goal, 1);
    assert_null(search_binding(&s, 2000, TRIAL_BAD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_goal_missed_most_often_is_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
