/* SPDX-License-Identifier: MIT
 * test_find_settings: the search that options of each kind request. */
#include "client/find_settings.h"

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_THREADS = 8 };

static struct client_find_settings settings_of(int what, const char *goals)
{
    struct client_find_settings s = {
        .what = what, .min = 5, .max = 1000, .width = 0.02, .time_ns = 7, .rate_qps = 300};
    char error[SLO_ERROR_BYTES];

    assert_int_equal(slo_parse(&s.slo, goals, error), 0);
    return s;
}

static struct search_config search_of(int what, const char *goals)
{
    const struct client_find_settings s = settings_of(what, goals);

    return client_find_settings_search(&s, N_THREADS);
}

static void a_rate_is_any_number_and_its_overload_is_tried(void **state)
{
    const struct search_config c = search_of(CLIENT_FIND_RATE, "p99<5ms");

    (void)state;
    assert_true(c.min == 5 && c.max == 1000 && c.width == 0.02 && c.time_ns == 7);
    assert_false(c.whole);
    assert_true(c.queries_per_s == 0); /* it is the load */
    assert_true(c.tries_recovery);
}

static void connections_are_whole_and_one_per_thread_at_least(void **state)
{
    const struct search_config c = search_of(CLIENT_FIND_CONNECTIONS, "p99<5ms");

    (void)state;
    assert_true(c.min == N_THREADS);
    assert_true(c.whole);
    assert_true(c.queries_per_s == 300);
    assert_false(c.tries_recovery);
}

static void more_is_discarded_if_answers_may_take_longer(void **state)
{
    const struct client_find_settings fast = settings_of(CLIENT_FIND_RATE, "p99<5ms"),
                                      slow = settings_of(CLIENT_FIND_RATE, "p50<5ms,p99<3s");

    (void)state;
    assert_int_equal(client_find_settings_discard_ns(&fast), 500 * UNITS_NS_PER_MS);
    assert_int_equal(client_find_settings_discard_ns(&slow), 6 * UNITS_NS_PER_S);
    assert_true(client_find_settings_search(&slow, 1).overhead_ns > 6 * UNITS_NS_PER_S);
    assert_int_equal(client_find_settings_search(&slow, 1).limit_ns, 3 * UNITS_NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_any_number_and_its_overload_is_tried),
        cmocka_unit_test(connections_are_whole_and_one_per_thread_at_least),
        cmocka_unit_test(more_is_discarded_if_answers_may_take_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
