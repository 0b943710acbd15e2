/* SPDX-License-Identifier: MIT
 * test_search_end: how a search ends by its time, its last trial, or on request. */
#include "client/search/search.h"

#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "client/search/search_round.h"
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

static void out_of_time_the_bounds_so_far_are_confirmed(void **state)
{
    unsigned n_wide = 0;

    (void)state;
    for (uint64_t time_s = 5; time_s < 400; time_s++) {
        struct search_config short_one = config;
        struct simulated server = simulated_with_cliff(20000);
        double lower, upper;

        short_one.time_ns = time_s * S_NS;
        simulated_search(&s, &short_one, &server);
        search_bounds(&s, &lower, &upper);
        if (s.cut_by != SEARCH_TIME)
            continue;
        n_wide++;
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(s.confirmed && simulated_count(&s, SEARCH_CONFIRM) == 1);
        assert_true(lower <= 20000 && upper > 20000 && 1 - lower / upper > config.width);
    }
    assert_true(n_wide > 0);
}

/* Trials that overload the server leave queries that time out. */
static void slow_transitions_leave_time_for_two_confirmations(void **state)
{
    const uint64_t slow_ns = OVERHEAD_NS + 5 * S_NS;
    unsigned n_cut = 0;

    (void)state;
    for (uint64_t time_s = 150; time_s < 400; time_s++) {
        struct search_config short_one = config;
        struct simulated server = simulated_with_cliff(20000);
        struct search_order order;
        uint64_t elapsed_ns = 0, seen_ns = 0;

        short_one.time_ns = time_s * S_NS;
        search_init(&s, &short_one);
        while (search_next(&s, elapsed_ns, &order) && order.step != SEARCH_CONFIRM) {
            seen_ns = s.round == SEARCH_ROUNDS - 1 ? s.between_ns : 0;
            search_take(&s, simulated_trial(&server, &order));
            elapsed_ns += order.duration_ns + slow_ns;
        }
        if (s.cut_by != SEARCH_TIME ||
            seen_ns == 0) /* without a trial of the last round, nothing is known */
            continue;
        n_cut++;
        assert_int_equal(seen_ns, slow_ns);
        assert_int_equal(search_confirm_left(&s, elapsed_ns), 2);
    }
    assert_true(n_cut > 0);
}

/* The trials without a server were as bad as those of loads that are too much. */
static void what_is_measured_without_a_server_bounds_nothing(void **state)
{
    struct search_config from_1000 = config;
    struct search_order order;
    double lower, upper;
    size_t n;

    (void)state;
    from_1000.min = 1000;
    search_init(&s, &from_1000);
    while (search_next(&s, 0, &order))
        search_take(&s, BAD);
    assert_int_equal(s.status, SEARCH_LESS_THAN);
    search_bounds(&s, &lower, &upper);
    assert_true(upper == 1000);
    n = s.n;
    search_lose_server(&s, 1);
    assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(s.reason, SEARCH_SERVER_GONE);
    assert_int_equal(s.n, n);
    assert_int_equal(s.trials[0].judgment.class, TRIAL_BAD);
    for (size_t i = 1; i < n; i++) {
        assert_int_equal(s.trials[i].judgment.class, TRIAL_VOID);
        assert_int_equal(s.trials[i].judgment.reason, TRIAL_CONNECTIONS);
    }
    search_bounds(&s, &lower, &upper);
    assert_true(lower == 0 && upper == 0);
}

static void a_confirmed_answer_outlives_the_server(void **state)
{
    struct simulated server = simulated_with_cliff(20000);

    (void)state;
    simulated_search(&s, &config, &server);
    search_lose_server(&s, 0);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_int_equal(s.cut_by, SEARCH_SERVER_GONE);
    assert_true(search_capacity(&s) > 0);
}

/* No load of the range is too much, and each full trial at its end takes 50 s. */
static void out_of_time_the_end_of_the_range_is_confirmed(void **state)
{
    unsigned n_cut = 0;

    (void)state;
    for (uint64_t time_s = 60; time_s < 500; time_s += 5) {
        struct search_config slow = config;
        struct simulated server = simulated_with_cliff(20000);

        slow.min = 100;
        slow.max = 200;
        slow.time_ns = time_s * S_NS;
        assert_true(simulated_search(&s, &slow, &server) <= slow.time_ns);
        n_cut += s.cut_by == SEARCH_TIME;
        if (time_s >= 240) {
            assert_int_equal(s.status, SEARCH_AT_LEAST);
            assert_true(s.confirmed && search_capacity(&s) == 200);
        }
    }
    assert_true(n_cut > 0);
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

/* --- after the confirmation --- */

static void assert_found_without_recovery(void)
{
    double lower, upper;

    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_int_equal(s.reason, SEARCH_NO_REASON);
    assert_true(s.confirmed && lower <= 20000 && upper > 20000);
    assert_false(s.recovery_known);
}

/* Inserts good trials of the load confirmed, so that n are left with the one to come. */
static void leave_trials(size_t n)
{
    while (s.n < SEARCH_MOST_TRIALS - n) {
        s.trials[s.n] = (struct search_trial){
            {SEARCH_BISECT, s.order.load, s.order.duration_ns}, GOOD, s.order.duration_ns};
        s.n++;
    }
}

static void a_confirmed_answer_outlives_the_last_trial(void **state)
{
    struct search_order order;

    (void)state;
    for (size_t left = 1; left <= 3; left++) {
        struct simulated server = simulated_with_cliff(20000);
        const uint64_t elapsed_ns = simulated_up_to(&s, &config, SEARCH_CONFIRM, &server, &order);

        leave_trials(left);
        search_take(&s, GOOD);
        if (search_next(&s, elapsed_ns, &order)) {
            assert_true(left == 3); /* one for the overload, and none is recorded past the last */
            search_take(&s, VOID);
            assert_true(search_next(&s, elapsed_ns, &order));
            assert_int_equal(order.step, SEARCH_RECOVER);
            assert_true(s.n < SEARCH_MOST_TRIALS);
            continue;
        }
        assert_true(left < 3);
        assert_found_without_recovery();
    }
}

static void without_a_trial_left_there_is_neither_a_round_nor_a_confirmation(void **state)
{
    static const enum search_step steps[] = {SEARCH_DOUBLE, SEARCH_BISECT, SEARCH_CONFIRM};
    struct search_order order;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct simulated server = simulated_with_cliff(20000);
        const uint64_t elapsed_ns = simulated_up_to(&s, &config, steps[i], &server, &order);

        leave_trials(0);
        assert_false(search_next(&s, elapsed_ns, &order));
        assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
        assert_int_equal(s.reason, SEARCH_TOO_MANY);
    }
}

/* Connections that the overload waits for, for example. */
static void a_confirmed_answer_outlives_the_time(void **state)
{
    static const enum search_reason reasons[] = {SEARCH_TIME, SEARCH_STOPPED};
    struct search_order order;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct simulated server = simulated_with_cliff(20000);
        const uint64_t elapsed_ns = simulated_up_to(&s, &config, SEARCH_OVERLOAD, &server, &order);

        search_stop(&s, reasons[i]);
        assert_found_without_recovery();
        simulated_up_to(&s, &config, SEARCH_OVERLOAD, &server, &order);
        search_take(&s, VOID);
        assert_true(search_next(&s, elapsed_ns, &order));
        search_stop(&s, reasons[i]); /* during the recovery */
        assert_found_without_recovery();
    }
}

static void a_recovery_without_time_is_not_measured(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_order order;

    (void)state;
    simulated_up_to(&s, &config, SEARCH_OVERLOAD, &server, &order);
    search_take(&s, VOID);
    assert_false(search_next(&s, config.time_ns, &order));
    assert_found_without_recovery();
}

static void an_overload_lasts_for_a_twentieth_of_the_time_but_no_longer_than_5_s(void **state)
{
    static const uint64_t times_s[] = {80, 100, 420};

    (void)state;
    for (size_t i = 0; i < sizeof times_s / sizeof *times_s; i++) {
        struct simulated server = simulated_with_cliff(20000);
        struct search_config config_of_time = config;
        struct search_order order;

        config_of_time.time_ns = times_s[i] * S_NS;
        simulated_up_to(&s, &config_of_time, SEARCH_OVERLOAD, &server, &order);
        assert_int_equal(order.duration_ns, times_s[i] == 80 ? 4 * S_NS : 5 * S_NS);
    }
}

static void a_recovery_has_the_time_left_if_that_is_1_s_but_no_more_than_30_s(void **state)
{
    static const struct {
        uint64_t left_ms, duration_ms; /* 0: there is none */
    } cases[] = {{999, 0}, {1000, 1000}, {29000, 29000}, {31000, 30000}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct simulated server = simulated_with_cliff(20000);
        struct search_order order;

        simulated_up_to(&s, &config, SEARCH_OVERLOAD, &server, &order);
        search_take(&s, VOID);
        assert_int_equal(
            search_next(&s, config.time_ns - OVERHEAD_NS - cases[i].left_ms * 1000000, &order),
            cases[i].duration_ms > 0);
        if (cases[i].duration_ms > 0)
            assert_int_equal(order.duration_ns, cases[i].duration_ms * 1000000);
    }
}

static void without_an_overload_there_is_no_recovery(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_order order;
    const uint64_t elapsed_ns = simulated_up_to(&s, &config, SEARCH_OVERLOAD, &server, &order);

    (void)state;
    search_take(&s, (struct trial_judgment){TRIAL_VOID, TRIAL_CONNECTIONS, 0});
    assert_false(search_next(&s, elapsed_ns, &order));
    assert_found_without_recovery();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_ends_within_its_time),
        cmocka_unit_test(out_of_time_the_bounds_so_far_are_confirmed),
        cmocka_unit_test(out_of_time_the_end_of_the_range_is_confirmed),
        cmocka_unit_test(slow_transitions_leave_time_for_two_confirmations),
        cmocka_unit_test(a_search_that_is_stopped_keeps_what_it_knows),
        cmocka_unit_test(what_is_measured_without_a_server_bounds_nothing),
        cmocka_unit_test(a_confirmed_answer_outlives_the_server),
        cmocka_unit_test(a_confirmed_answer_outlives_the_last_trial),
        cmocka_unit_test(without_a_trial_left_there_is_neither_a_round_nor_a_confirmation),
        cmocka_unit_test(a_confirmed_answer_outlives_the_time),
        cmocka_unit_test(a_recovery_without_time_is_not_measured),
        cmocka_unit_test(an_overload_lasts_for_a_twentieth_of_the_time_but_no_longer_than_5_s),
        cmocka_unit_test(a_recovery_has_the_time_left_if_that_is_1_s_but_no_more_than_30_s),
        cmocka_unit_test(without_an_overload_there_is_no_recovery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
