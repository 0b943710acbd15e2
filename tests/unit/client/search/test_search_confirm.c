/* SPDX-License-Identifier: MIT
 * test_search_confirm: the long trials that confirm an answer, or refute it. */
#include "client/search/search_confirm.h"

#include "client/search/search.h"
#include "client/search/search_binding.h"
#include "client/search/search_bounds.h"
#include "simulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct search_config config = SIMULATED_CONFIG(10000000);

static struct search s;

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
    assert_true(upper == search_confirm_refuted(&s, 0, 1)); /* not what short trials say */
    assert_true(lower > 0 && lower < upper);
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

/* Sustains 18,500 for long and 20,000 for a while. */
static struct trial_judgment tired_above_18500(struct simulated *server, double load,
                                               double duration_s)
{
    return duration_s > 30 && load > 18500 ? BAD : simulated_cliff(server, load, duration_s);
}

static void a_lower_load_is_confirmed_where_the_first_one_fails(void **state)
{
    struct simulated server = {.trial = tired_above_18500, .capacity = 20000, .recovery_ns = S_NS};
    struct search_config long_one = config;
    double lower, upper, last = 20000;

    (void)state;
    long_one.time_ns = 410 * S_NS; /* none is left to narrow the bounds */
    simulated_search(&s, &long_one, &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_true(s.confirmed);
    assert_true(lower <= 18500 && lower > 17500);
    assert_true(upper > 20000); /* two of the first and one of the next do not refute these */
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 4); /* the first one twice */
    for (size_t i = 0; i < s.n; i++)
        if (s.trials[i].order.step == SEARCH_CONFIRM) {
            assert_int_equal(s.trials[i].order.duration_ns, 60 * S_NS);
            assert_true(s.trials[i].order.load <= last);
            last = s.trials[i].order.load;
        }
    assert_true(last == lower);
    assert_true(s.recovery_known); /* from an overload of the bound that was confirmed */
    assert_true(fabs(s.trials[s.n - 1].order.load / lower - SEARCH_OVERLOAD_PART) < 0.001);
}

/* Long trials of the first load have shown that short ones promise too much. */
static void a_lower_load_that_is_bad_is_passed_over_but_for_the_start_of_the_range(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_config long_one = config;
    struct search_order order;
    double last = 0;
    uint64_t elapsed_ns;

    (void)state;
    long_one.time_ns = 3600 * S_NS;
    long_one.min = 17000;
    elapsed_ns = simulated_up_to(&s, &long_one, SEARCH_CONFIRM, &server, &order);
    for (int i = 0; i < 2; i++) {
        search_take(&s, BAD);
        assert_true(search_next(&s, elapsed_ns, &order));
    }
    while (order.load > long_one.min) {
        assert_true(last == 0 || order.load < last);
        last = order.load;
        search_take(&s, BAD);
        assert_true(search_next(&s, elapsed_ns, &order));
    }
    search_take(&s, BAD);
    assert_true(search_next(&s, elapsed_ns, &order));
    assert_true(order.load == long_one.min);
    search_take(&s, BAD);
    assert_false(search_next(&s, elapsed_ns, &order));
    assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
}

static void a_failed_confirmation_is_the_upper_bound_if_there_is_no_other(void **state)
{
    struct simulated server = {.trial = tired_above_18500, .capacity = 20000, .recovery_ns = S_NS};
    struct search_config low_range = config;
    double lower, upper;

    (void)state;
    low_range.max = 19500;
    low_range.time_ns = 600 * S_NS;
    simulated_search(&s, &low_range, &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_true(lower <= 18500 && lower > 17500 && upper > 18500 && upper < 19000);
    assert_int_equal(search_binding(&s, upper, TRIAL_BAD)->reason, TRIAL_GOAL);
}

/* A repetition needs two more trials. */
static void with_time_for_one_more_confirmation_a_lower_load_has_it(void **state)
{
    struct simulated server = {.trial = tired_above_18500, .capacity = 20000, .recovery_ns = S_NS};
    struct search_order order;
    double lower, upper;

    (void)state;
    simulated_up_to(&s, &config, SEARCH_CONFIRM, &server, &order);
    search_bounds(&s, &lower, &upper);
    search_take(&s, BAD);
    assert_true(search_next(&s, config.time_ns - order.duration_ns - 2 * OVERHEAD_NS, &order));
    assert_int_equal(order.step, SEARCH_CONFIRM);
    assert_true(order.load < 0.97 * lower && order.load > 0.94 * lower);
    search_take(&s, GOOD);
    search_bounds(&s, &lower, &upper);
    assert_true(lower == order.load);
    while (search_next(&s, config.time_ns, &order))
        fail_msg("step %d after the end", order.step);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_true(search_capacity(&s) == lower); /* long trials above it were bad */
}

/* Fails the first confirmation of a search of time_ns after failed_ns, and asks for the next with
 * left_ns of the time.  Returns whether there is one. */
static bool fail_in(uint64_t time_ns, uint64_t failed_ns, uint64_t left_ns,
                    struct search_order *order)
{
    struct simulated server = {.trial = tired_above_18500, .capacity = 20000};
    struct search_config config_of_time = config;

    config_of_time.time_ns = time_ns;
    simulated_up_to(&s, &config_of_time, SEARCH_CONFIRM, &server, order);
    assert_in_range(order->duration_ns, search_confirm_ns(&s), 60 * S_NS);
    search_ended_early(&s, failed_ns);
    search_take(&s, BAD);
    return search_next(&s, time_ns - left_ns - OVERHEAD_NS, order);
}

/* Likewise, with the time of config, which plans for 60 s. */
static bool fail_with(uint64_t failed_ns, uint64_t left_ns, struct search_order *order)
{
    return fail_in(config.time_ns, failed_ns, left_ns, order);
}

/* Three searches of real servers out of sixteen ended unconfirmed with 24 to 26 s left, of a
 * confirmation of 28 s, after failures that had taken at most 23 s. */
static void a_confirmation_that_is_longer_than_the_failed_ones_may_be_short(void **state)
{
    struct search_order order;

    (void)state;
    assert_true(fail_with(20 * S_NS, 50 * S_NS, &order));
    assert_int_equal(order.duration_ns, 50 * S_NS);
    search_take(&s, GOOD);
    assert_false(search_next(&s, config.time_ns, &order));
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_true(search_capacity(&s) == order.load);
    assert_false(fail_with(51 * S_NS, 50 * S_NS, &order));
    assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
    assert_true(fail_with(S_NS, 30 * S_NS, &order));
    assert_false(fail_with(S_NS, 29 * S_NS, &order));
}

/* 250 s plan for confirmations of 50 s. */
static void a_confirmation_is_longer_while_another_one_fits(void **state)
{
    const uint64_t time_ns = 250 * S_NS, planned_ns = 50 * S_NS;
    const struct {
        uint64_t failed_ns, left_ns, expected_ns;
    } rows[] = {
        {S_NS, planned_ns - S_NS, planned_ns - S_NS}, /* the last one, shorter */
        {S_NS, planned_ns, planned_ns},
        {S_NS, 110 * S_NS, planned_ns},
        {S_NS, 120 * S_NS, 54 * S_NS},      /* leaves 66 s */
        {S_NS, 140 * S_NS, 60 * S_NS},      /* no longer than this */
        {57 * S_NS, 110 * S_NS, 57 * S_NS}, /* as long as one that failed */
    };
    struct search_order order;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(fail_in(time_ns, rows[i].failed_ns, rows[i].left_ns, &order));
        assert_int_equal(order.step, SEARCH_CONFIRM);
        assert_int_equal(order.duration_ns, rows[i].expected_ns);
    }
    assert_false(fail_in(time_ns, 57 * S_NS, 56 * S_NS, &order));
}

/* A load that failed for 57 s needs two more of that length. */
static void what_failed_for_long_needs_time_for_two_as_long(void **state)
{
    const uint64_t another_ns = 57 * S_NS + OVERHEAD_NS;
    struct search_order order;
    double failed;

    (void)state;
    assert_true(fail_in(250 * S_NS, 57 * S_NS, 57 * S_NS + another_ns, &order));
    failed = s.trials[s.n - 1].order.load;
    assert_true(order.load == failed);
    assert_true(fail_in(250 * S_NS, 57 * S_NS, 57 * S_NS + another_ns - S_NS, &order));
    assert_true(order.load < failed);
}

/* The first long trials, by reason, in order; all others are as the cliff says. */
static enum trial_reason first_long[3];

static struct trial_judgment as_ordered(struct simulated *server, double load, double duration_s)
{
    if (duration_s <= 30 || n_long == 3 || first_long[n_long] == TRIAL_NO_REASON)
        return simulated_cliff(server, load, duration_s);
    return (struct trial_judgment){TRIAL_BAD, first_long[n_long++], 0};
}

/* The first long trial is in doubt.  Returns how many confirmations the search took. */
static size_t search_with(enum trial_reason second, enum trial_reason third)
{
    struct simulated server = {.trial = as_ordered, .capacity = 20000};
    struct search_config long_one = config;

    long_one.time_ns = 350 * S_NS; /* none is left to narrow the bounds */
    n_long = 0;
    first_long[0] = TRIAL_IN_DOUBT;
    first_long[1] = second;
    first_long[2] = third;
    simulated_search(&s, &long_one, &server);
    assert_int_equal(s.status, SEARCH_FOUND);
    return simulated_count(&s, SEARCH_CONFIRM);
}

/* Whether the answer is what a search without failures finds. */
static bool is_near_the_capacity(void)
{
    return fabs(search_capacity(&s) / 20000 - 1) < 0.01;
}

static void a_confirmation_in_doubt_has_no_vote_but_two_end_a_load(void **state)
{
    (void)state;
    assert_int_equal(search_with(TRIAL_NO_REASON, TRIAL_NO_REASON), 2);
    assert_true(is_near_the_capacity() && s.descended_to == 0);
    assert_int_equal(search_with(TRIAL_GOAL, TRIAL_NO_REASON), 4);
    assert_true(is_near_the_capacity() && s.descended_to == 0);
    assert_int_equal(search_with(TRIAL_IN_DOUBT, TRIAL_NO_REASON), 3);
    assert_true(s.descended_to > 0);
}

static void loads_that_were_only_in_doubt_do_not_lower_the_answer(void **state)
{
    double lower, upper;

    (void)state;
    search_with(TRIAL_IN_DOUBT, TRIAL_NO_REASON);
    search_bounds(&s, &lower, &upper);
    assert_true(s.descended_to == lower);
    assert_true(fabs(search_capacity(&s) * SEARCH_CONFIRM_PART / lower - 1) < 0.001);
    search_with(TRIAL_GOAL, TRIAL_GOAL);
    search_bounds(&s, &lower, &upper);
    assert_true(s.descended_to == lower);
    assert_true(search_capacity(&s) == lower);
}

static void a_load_that_two_of_three_long_trials_miss_is_no_lower_bound(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_config long_one = config;
    struct search_order order;
    double lower, upper, first;
    uint64_t elapsed_ns;

    (void)state;
    long_one.time_ns = 600 * S_NS;
    elapsed_ns = simulated_up_to(&s, &long_one, SEARCH_CONFIRM, &server, &order);
    first = order.load;
    search_take(&s, BAD);
    assert_true(search_next(&s, elapsed_ns, &order) && order.load == first);
    search_take(&s, GOOD);
    search_bounds(&s, &lower, &upper);
    assert_true(lower >= first && upper > first); /* one each */
    assert_true(search_next(&s, elapsed_ns, &order) && order.load == first);
    search_take(&s, BAD);
    assert_false(search_next(&s, long_one.time_ns, &order));
    assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
    search_bounds(&s, &lower, &upper);
    assert_true(upper == first && lower > 0 && lower < first);
}

static void add_confirmation(double load, struct trial_judgment judgment)
{
    s.trials[s.n++] =
        (struct search_trial){.order = {SEARCH_CONFIRM, load, 60 * S_NS}, .judgment = judgment};
}

static void good_long_trials_weigh_against_the_bad_ones(void **state)
{
    static const struct trial_judgment in_doubt = {TRIAL_BAD, TRIAL_IN_DOUBT, 0};

    (void)state;
    search_init(&s, &config);
    for (int i = 0; i < 4; i++)
        add_confirmation(190 + i % 2, BAD);
    assert_true(search_confirm_refuted(&s, 180, 4) == 191);
    assert_true(search_confirm_refuted(&s, 180, 2) == 190);
    add_confirmation(190, GOOD);
    assert_true(search_confirm_refuted(&s, 180, 4) == 0);
    assert_true(search_confirm_refuted(&s, 180, 3) == 191);
    add_confirmation(191, in_doubt); /* has no vote */
    assert_true(search_confirm_refuted(&s, 180, 4) == 0);
    assert_true(search_confirm_refuted(&s, 190, 3) == 191); /* unless none was good */
}

static void a_load_that_was_in_doubt_once_is_no_upper_bound(void **state)
{
    static const struct trial_judgment in_doubt = {TRIAL_BAD, TRIAL_IN_DOUBT, 0};

    (void)state;
    search_init(&s, &config);
    add_confirmation(190, BAD);
    add_confirmation(180, in_doubt);
    assert_true(search_confirm_refuted(&s, 0, 1) == 190);
    assert_true(search_confirm_refuted(&s, 0, 2) == 190);
    add_confirmation(180, in_doubt);
    assert_true(search_confirm_refuted(&s, 0, 1) == 180);
}

static void a_void_confirmation_of_a_higher_load_has_no_vote(void **state)
{
    (void)state;
    search_init(&s, &config);
    add_confirmation(200, BAD);
    add_confirmation(210, VOID);
    assert_true(search_confirm_missed_above(&s, 190));
    assert_false(search_confirm_missed_above(&s, 200));
    add_confirmation(200, GOOD);
    assert_false(search_confirm_missed_above(&s, 190));
}

/* In 20 minutes a load may have many trials. */
static void void_confirmations_are_weighed_against_the_others(void **state)
{
    (void)state;
    search_init(&s, &config);
    for (int i = 0; i < 3; i++)
        add_confirmation(200, VOID);
    assert_false(search_confirm_is_void(&s, 200, 1));
    add_confirmation(200, BAD);
    add_confirmation(200, VOID);
    assert_false(search_confirm_is_void(&s, 200, 1));
    add_confirmation(200, VOID);
    assert_true(search_confirm_is_void(&s, 200, 1));
    add_confirmation(200, GOOD);
    assert_false(search_confirm_is_void(&s, 200, 1));
    assert_false(search_confirm_is_void(&s, 190, 1));
}

static void without_time_fewer_void_confirmations_are_enough(void **state)
{
    (void)state;
    search_init(&s, &config);
    add_confirmation(200, VOID);
    assert_false(search_confirm_is_void(&s, 200, 0));
    add_confirmation(200, VOID);
    assert_true(search_confirm_is_void(&s, 200, 0));
    assert_false(search_confirm_is_void(&s, 200, 1));
}

/* Not only the last one that failed. */
static void the_longest_that_failed_decides_how_long_another_one_lasts(void **state)
{
    (void)state;
    search_init(&s, &config);
    add_confirmation(200, BAD);
    s.trials[0].measured_ns = 60 * S_NS;
    add_confirmation(190, BAD);
    s.trials[1].measured_ns = 20 * S_NS;
    assert_int_equal(search_confirm_left(&s, config.time_ns - 50 * S_NS), 0);
    assert_int_equal(search_confirm_left(&s, config.time_ns - 62 * S_NS), 1);
}

static void at_the_start_of_the_range_nothing_lower_is_tried(void **state)
{
    struct simulated server = {.trial = tired, .capacity = 20000};
    struct search_config short_range = config;

    (void)state;
    short_range.min = 18900;
    short_range.time_ns = 3600 * S_NS;
    simulated_search(&s, &short_range, &server);
    assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(s.reason, SEARCH_UNCONFIRMED);
    for (size_t i = 0; i < s.n; i++)
        assert_true(s.trials[i].order.load >= short_range.min);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_a_long_trial_refutes_is_none),
        cmocka_unit_test(a_confirmation_that_fails_has_to_succeed_twice),
        cmocka_unit_test(no_shorter_trial_outvotes_a_confirmation),
        cmocka_unit_test(a_lower_load_is_confirmed_where_the_first_one_fails),
        cmocka_unit_test(a_lower_load_that_is_bad_is_passed_over_but_for_the_start_of_the_range),
        cmocka_unit_test(a_failed_confirmation_is_the_upper_bound_if_there_is_no_other),
        cmocka_unit_test(with_time_for_one_more_confirmation_a_lower_load_has_it),
        cmocka_unit_test(a_confirmation_that_is_longer_than_the_failed_ones_may_be_short),
        cmocka_unit_test(a_confirmation_is_longer_while_another_one_fits),
        cmocka_unit_test(what_failed_for_long_needs_time_for_two_as_long),
        cmocka_unit_test(a_confirmation_in_doubt_has_no_vote_but_two_end_a_load),
        cmocka_unit_test(loads_that_were_only_in_doubt_do_not_lower_the_answer),
        cmocka_unit_test(a_load_that_two_of_three_long_trials_miss_is_no_lower_bound),
        cmocka_unit_test(good_long_trials_weigh_against_the_bad_ones),
        cmocka_unit_test(a_load_that_was_in_doubt_once_is_no_upper_bound),
        cmocka_unit_test(a_void_confirmation_of_a_higher_load_has_no_vote),
        cmocka_unit_test(void_confirmations_are_weighed_against_the_others),
        cmocka_unit_test(without_time_fewer_void_confirmations_are_enough),
        cmocka_unit_test(the_longest_that_failed_decides_how_long_another_one_lasts),
        cmocka_unit_test(at_the_start_of_the_range_nothing_lower_is_tried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
