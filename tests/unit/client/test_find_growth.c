/* SPDX-License-Identifier: MIT
 * test_find_growth: when the queries under way of a trial are taken to grow. */
#include "client/find_growth.h"

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UNITS_NS_PER_S

static struct client_find_settings settings;
static struct client_find f;

static int setup(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_RATE;
    f = (struct client_find){.settings = &settings};
    return 0;
}

static void look(struct trend *t, uint64_t early, uint64_t late)
{
    *t = (struct trend){0};
    trend_add_sample(t, early, S, 4 * S);
    trend_add_sample(t, late, 3 * S, 4 * S);
}

static bool was_seen(void)
{
    return client_find_growth_was_seen(&f, 5 * S);
}

static void nothing_grows_without_samples(void **state)
{
    (void)state;
    assert_false(was_seen());
    look(&f.trend, 10, 1000);
    assert_false(was_seen()); /* of all, none is known */
    look(&f.trend_of_all, 500, 1500);
    assert_true(was_seen());
    client_find_growth_reset(&f);
    assert_false(was_seen());
}

/* At first none of those measured is in flight, however long an answer takes. */
static void queries_of_the_start_of_the_trial_tell_slow_answers_from_a_queue(void **state)
{
    (void)state;
    look(&f.trend, 10, 1000);
    look(&f.trend_of_all, 1000, 1500);
    assert_false(was_seen());
    look(&f.trend_of_all, 1000, 1501);
    assert_true(was_seen());
    look(&f.trend, 1000, 1001);
    assert_false(was_seen());
}

/* Each is counted until it is established. */
static void connections_have_none_before_the_measurement(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    look(&f.trend, 10, 1000);
    assert_true(was_seen());
}

static void queries_that_are_lost_are_no_queue(void **state)
{
    (void)state;
    look(&f.trend_of_all, 100, 1000);
    look(&f.trend, 100, 300);
    assert_true(was_seen());
    f.trend = (struct trend){0};
    trend_add_sample(&f.trend, 100, S, 4 * S);
    trend_timed_out(&f.trend, 90, 2 * S, 5 * S);
    trend_add_sample(&f.trend, 300, 3 * S, 4 * S);
    assert_false(was_seen());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_grows_without_samples, setup),
        cmocka_unit_test_setup(queries_of_the_start_of_the_trial_tell_slow_answers_from_a_queue,
                               setup),
        cmocka_unit_test_setup(connections_have_none_before_the_measurement, setup),
        cmocka_unit_test_setup(queries_that_are_lost_are_no_queue, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
