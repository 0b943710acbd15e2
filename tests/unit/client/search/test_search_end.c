/* SPDX-License-Identifier: MIT
 * test_search_end: how a search ends: by its time, its confirmation, or by request. */
#include "client/search/search.h"
#include "simulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct search_config config = SIMULATED_CONFIG(10000000);

static struct search s;

static void a_search_ends_within_its_time(void **state)
{
    (void)state;
    for (uint64_t time_s = 5; time_s < 400; time_s += 5) {
        struct search_config short_one = config;
        struct simulated server = simulated_with_cliff(20000);

        short_one.time_ns = time_s * S_NS;
        assert_true(simulated_search(&s, &short_one, &server) <= short_one.time_ns);
        assert_true(s.status == SEARCH_FOUND ||
                    (s.status == SEARCH_INCONCLUSIVE && s.reason == SEARCH_TIME));
        if (time_s >= 200)
            assert_int_equal(s.status, SEARCH_FOUND);
    }
}

static struct trial_judgment tired(struct simulated *server, double load, double duration_s)
{
    return duration_s > 5 ? BAD : simulated_cliff(server, load, duration_s);
}

static void an_answer_that_a_long_trial_refutes_is_none(void **state)
{
    struct simulated server = {.trial = tired, .capacity = 20000};
    double lower, upper;

    (void)state;
    simulated_search(&s, &config, &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
    assert_false(s.confirmed);
    assert_true(lower > 19000 && upper < 21000);
    assert_int_equal(simulated_count(&s, SEARCH_OVERLOAD), 0);
}

static unsigned n_long;

static struct trial_judgment unlucky(struct simulated *server, double load, double duration_s)
{
    return duration_s > 30 && n_long++ == 0 ? BAD : simulated_cliff(server, load, duration_s);
}

static void a_confirmation_that_fails_has_to_succeed_twice(void **state)
{
    struct simulated server = {.trial = unlucky, .capacity = 20000};
    struct search_config long_one = config;

    (void)state;
    n_long = 0;
    long_one.time_ns = 600 * S_NS;
    simulated_search(&s, &long_one, &server);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 3);
    for (size_t i = 0; i < s.n; i++)
        if (s.trials[i].order.step == SEARCH_CONFIRM)
            assert_int_equal(s.trials[i].order.duration_ns, 60 * S_NS);
}

/* Bad for longer than 40 s: what shorter trials say does not outvote that. */
static struct trial_judgment tired_after_40_s(struct simulated *server, double load,
                                              double duration_s)
{
    return duration_s > 40 ? BAD : simulated_cliff(server, load, duration_s);
}

static void no_shorter_trial_outvotes_a_confirmation(void **state)
{
    struct search_config config_of_time = config;

    (void)state;
    for (uint64_t time_s = 250; time_s < 700; time_s += 10) {
        struct simulated server = {.trial = tired_after_40_s, .capacity = 20000};

        config_of_time.time_ns = time_s * S_NS;
        simulated_search(&s, &config_of_time, &server);
        assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
        assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
    }
}

static void a_search_that_is_stopped_keeps_what_it_knows(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_order order;
    double lower, upper;

    (void)state;
    search_init(&s, &config);
    for (int i = 0; i < 8; i++) {
        assert_true(search_next(&s, 0, &order));
        search_take(&s, simulated_trial(&server, &order));
    }
    search_stop(&s, SEARCH_STOPPED);
    assert_false(search_next(&s, 0, &order));
    assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(s.reason, SEARCH_STOPPED);
    search_bounds(&s, &lower, &upper);
    assert_true(lower >= 16000 && lower <= 20000 && upper > 20000 && upper <= 32000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_ends_within_its_time),
        cmocka_unit_test(an_answer_that_a_long_trial_refutes_is_none),
        cmocka_unit_test(a_confirmation_that_fails_has_to_succeed_twice),
        cmocka_unit_test(no_shorter_trial_outvotes_a_confirmation),
        cmocka_unit_test(a_search_that_is_stopped_keeps_what_it_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
