/* SPDX-License-Identifier: MIT
 * test_search: the order of the trials, and the bounds. */
#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "client/search/search_round.h"
#include "simulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct search_config config = SIMULATED_CONFIG(10000000);

static struct search s;

static void the_load_doubles_until_a_trial_is_bad(void **state)
{
    static const double loads[] = {1000, 2000, 4000, 8000, 16000, 32000};
    struct simulated server = simulated_with_cliff(20000);

    (void)state;
    simulated_search(&s, &config, &server);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(s.trials[i].order.step, SEARCH_DOUBLE);
        assert_true(s.trials[i].order.load == loads[i]);
        assert_int_equal(s.trials[i].judgment.class, i < 5 ? TRIAL_GOOD : TRIAL_BAD);
    }
    assert_int_equal(simulated_count(&s, SEARCH_DOUBLE),
                     8); /* a single bad trial is not believed */
}

static void the_bounds_enclose_the_capacity(void **state)
{
    (void)state;
    for (double capacity = 10; capacity < 100000; capacity *= 1.037) {
        struct simulated server = simulated_with_cliff(capacity);
        double lower, upper;

        server.recovery_ns = SEARCH_NEVER;
        simulated_search(&s,
                         &(struct search_config){.min = 10,
                                                 .max = 100000,
                                                 .width = 0.02,
                                                 .time_ns = 3600 * S_NS,
                                                 .tries_recovery = true},
                         &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower <= capacity && upper > capacity);
        assert_true(1 - lower / upper <= 0.02 + 1e-9);
        assert_true(s.confirmed);
        assert_true(s.recovery_known && s.recovery_ns == SEARCH_NEVER);
    }
}

/* The second round has trials as long as the first one, so that its bounds hold from the start. */
static void rounds_that_try_their_bounds_again_start_with_the_smaller_load(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_order order;
    unsigned round = 1, n_rounds = 0;

    (void)state;
    search_init(&s, &config);
    while (search_next(&s, 0, &order) && order.step <= SEARCH_BISECT) {
        if (s.round > round) {
            assert_true(order.load <= server.capacity);
            round = s.round;
            n_rounds++;
        }
        search_take(&s, simulated_trial(&server, &order));
    }
    assert_int_equal(n_rounds, 2);
}

static void the_answer_takes_most_of_eleven_trials(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    double lower, upper;
    unsigned n_lower = 0, n_upper = 0;

    (void)state;
    simulated_search(&s, &config, &server);
    search_bounds(&s, &lower, &upper);
    for (size_t i = 0; i < s.n; i++) {
        n_lower += s.trials[i].order.load == lower && s.trials[i].judgment.class == TRIAL_GOOD;
        n_upper += s.trials[i].order.load == upper && s.trials[i].judgment.class == TRIAL_BAD &&
                   s.trials[i].order.step == SEARCH_BISECT;
    }
    assert_int_equal(n_lower, 6);
    assert_int_equal(n_upper, 6);
}

static void a_long_trial_confirms_and_an_overload_shows_the_recovery(void **state)
{
    struct simulated server = simulated_with_cliff(20000);
    double lower, upper;
    const uint64_t took_ns = simulated_search(&s, &config, &server);
    const struct search_trial *confirm = &s.trials[s.n - 2], *overload = &s.trials[s.n - 1];

    (void)state;
    search_bounds(&s, &lower, &upper);
    assert_int_equal(confirm->order.step, SEARCH_CONFIRM);
    assert_int_equal(confirm->order.duration_ns, 60 * S_NS);
    assert_true(fabs(confirm->order.load / search_capacity(&s) - 0.975) < 0.001);
    assert_int_equal(overload->order.step, SEARCH_OVERLOAD);
    assert_int_equal(overload->order.duration_ns, 5 * S_NS);
    assert_true(overload->order.load > 1.499 * lower && overload->order.load < 1.501 * lower);
    assert_int_equal(s.order.step, SEARCH_RECOVER);
    assert_true(s.order.load > 0.899 * lower && s.order.load < 0.901 * lower);
    assert_true(s.recovery_known && s.recovery_ns == S_NS);
    assert_true(took_ns < 240 * S_NS);
}

static void
no_capacity_is_claimed_beyond_what_the_confirmation_of_the_lower_bound_vouches_for(void **state)
{
    (void)state;
    assert_true(search_confirm_capacity(&config, 100, 102.01) == 101);
    assert_true(fabs(search_confirm_capacity(&config, 97.5, 200) - 100) < 1e-9);
    assert_true(search_confirm_capacity(&config, 95, 0) == 95);
}

static void no_load_lies_outside_the_range(void **state)
{
    struct simulated server = simulated_with_cliff(90000);

    (void)state;
    simulated_search(&s, &config, &server);
    assert_int_equal(s.status, SEARCH_FOUND);
    for (size_t i = 0; i < s.n; i++)
        assert_true(s.trials[i].order.load >= config.min && s.trials[i].order.load <= config.max);
}

static void where_every_load_is_good_the_answer_is_at_least(void **state)
{
    struct simulated server = simulated_with_cliff(100000);
    double lower, upper;

    (void)state;
    simulated_search(&s, &config, &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_AT_LEAST);
    assert_true(lower == 100000 && upper == 0);
    assert_true(s.confirmed);
    assert_int_equal(simulated_count(&s, SEARCH_OVERLOAD), 0);
}

static void where_every_load_is_bad_the_answer_is_less_than(void **state)
{
    struct simulated server = simulated_with_cliff(9);
    double lower, upper;

    (void)state;
    simulated_search(
        &s, &(struct search_config){.min = 10, .max = 100000, .width = 0.02, .time_ns = 300 * S_NS},
        &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_LESS_THAN);
    assert_true(lower == 0 && upper == 10);
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 0);
}

static void whole_numbers_end_one_apart(void **state)
{
    (void)state;
    for (double capacity = 1; capacity < 12; capacity++) {
        struct simulated server = simulated_with_cliff(capacity);
        double lower, upper;

        simulated_search(&s,
                         &(struct search_config){.min = 1,
                                                 .max = 12,
                                                 .whole = true,
                                                 .width = 0.02,
                                                 .queries_per_s = 10000,
                                                 .time_ns = 600 * S_NS},
                         &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower == capacity && upper == capacity + 1);
    }
}

/* A server with a limit of 3,000 does not hold 3,024. */
static void of_connections_no_more_are_claimed_than_were_held(void **state)
{
    (void)state;
    for (double capacity = 1; capacity < 4000; capacity = ceil(1.1 * capacity)) {
        struct simulated server = simulated_with_cliff(capacity);
        double lower, upper;

        simulated_search(&s,
                         &(struct search_config){.min = 1,
                                                 .max = 5000,
                                                 .whole = true,
                                                 .width = 0.05,
                                                 .queries_per_s = 10000,
                                                 .time_ns = 600 * S_NS},
                         &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower <= capacity && upper > capacity);
        assert_true(search_capacity(&s) == lower);
        assert_true(search_confirm_succeeded(&s, floor(0.975 * lower + 0.5)));
    }
}

static struct trial_judgment lucky_once(struct simulated *server, double load, double duration_s)
{
    (void)duration_s;
    return load > 30000 && load < 70000 ? GOOD : simulated_cliff(server, load, duration_s);
}

/* Good again above: only what lies below the smallest bad load counts. */
static void a_lucky_load_above_a_bad_one_does_not_count(void **state)
{
    struct simulated server = {.trial = lucky_once, .capacity = 10000};
    double lower, upper;

    (void)state;
    simulated_search(&s, &config, &server);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_true(lower <= 10000 && upper > 10000 && upper < 10300);
}

static void trials_are_as_long_as_the_percentile_needs(void **state)
{
    struct simulated server = simulated_with_cliff(2000);
    struct search_config slow = config;

    (void)state;
    slow.time_ns = 3600 * S_NS;
    simulated_search(&s, &slow, &server);
    for (size_t i = 0; i < s.n && s.trials[i].order.step != SEARCH_CONFIRM; i++) {
        const double queries =
            s.trials[i].order.load * (double)s.trials[i].order.duration_ns / (double)S_NS;

        assert_true(s.trials[i].order.duration_ns >= S_NS && queries > 999);
    }
    assert_true(s.trials[s.n - 3].order.load * (double)s.trials[s.n - 3].order.duration_ns >
                9999.0 * (double)S_NS);
}

/* 10,000 queries, a tenth of them in the first two rounds; ten times the limit in all. */
static void each_round_has_its_length_of_a_trial(void **state)
{
    struct search_config of_limit = config;

    (void)state;
    search_init(&s, &of_limit);
    assert_int_equal(search_round_trial_ns(&s, 0, 100), 10 * S_NS);
    assert_int_equal(search_round_trial_ns(&s, 1, 10000), S_NS);
    assert_int_equal(search_round_trial_ns(&s, 2, 100), 100 * S_NS);
    assert_int_equal(search_round_trial_ns(&s, 3, 10000), 2 * S_NS);
    of_limit.limit_ns = S_NS / 2;
    search_init(&s, &of_limit);
    for (unsigned round = 0; round < SEARCH_ROUNDS; round++)
        assert_int_equal(search_round_trial_ns(&s, round, 10000), 5 * S_NS);
    of_limit.queries_per_s = 10; /* of connections: whatever the load */
    search_init(&s, &of_limit);
    assert_int_equal(search_round_trial_ns(&s, 3, 10000), 1000 * S_NS);
    of_limit.queries_per_s = 1e-9; /* no time overflows */
    search_init(&s, &of_limit);
    assert_int_equal(search_round_trial_ns(&s, 3, 10000), 1000000000 * S_NS);
}

/* A round that refutes the lower bound of the one before falls back to a smaller one. */
static struct trial_judgment tires_at_15000(struct simulated *server, double load,
                                            double duration_s)
{
    return load > 15000 && duration_s >= 2 ? BAD : simulated_cliff(server, load, duration_s);
}

static void known_bounds_are_never_forgotten(void **state)
{
    struct simulated server = {.trial = tires_at_15000, .capacity = 20000};
    struct search_order order;
    double lower, upper;

    (void)state;
    search_init(&s, &config);
    while (search_next(&s, 0, &order) && order.step <= SEARCH_BISECT) {
        search_take(&s, simulated_trial(&server, &order));
        search_bounds(&s, &lower, &upper);
        if (s.n > 1)
            assert_true(lower >= 1000 && (upper == 0 || upper > lower));
    }
    assert_true(lower <= 15000 && upper > 15000);
}

static void the_least_time_has_room_for_the_first_trial(void **state)
{
    static const double loads[] = {0.5, 10, 333, 100000};
    static const uint64_t queries[] = {1, 10000, 123457};
    struct search_order first, order;

    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
            struct search_config of = config;

            of.min = loads[i];
            of.max = loads[i] * 50;
            of.queries = queries[q];
            of.time_ns = search_least_time_ns(&of, &first);
            search_init(&s, &of);
            assert_true(search_next(&s, 0, &order));
            assert_true(order.load == first.load && order.duration_ns == first.duration_ns);
            of.time_ns--;
            search_init(&s, &of);
            assert_false(search_next(&s, 0, &order));
            assert_int_equal(s.reason, SEARCH_TIME);
        }
}

/* A server that accepts `most` connections in all, and none again for those that were closed. */
struct accepting {
    double most, n_accepted, n_held;
};

static struct trial_judgment try_to_hold(struct accepting *server, double load)
{
    if (load < server->n_held)
        server->n_held = load;
    while (server->n_held < load && server->n_accepted < server->most) {
        server->n_held++;
        server->n_accepted++;
    }
    return (struct trial_judgment){server->n_held == load ? TRIAL_GOOD : TRIAL_BAD,
                                   TRIAL_CONNECTIONS, 0};
}

static void simulated_hold(struct search *search, const struct search_config *of,
                           struct accepting *server)
{
    struct search_order order;
    uint64_t elapsed_ns = 0;

    search_init(search, of);
    while (search_next(search, elapsed_ns, &order)) {
        const struct trial_judgment judgment = try_to_hold(server, order.load);

        if (judgment.class == TRIAL_BAD)
            search_held(search, server->n_held);
        search_take(search, judgment);
        elapsed_ns += order.duration_ns + OVERHEAD_NS;
    }
}

static void a_server_that_accepts_no_more_is_tried_at_what_it_holds(void **state)
{
    (void)state;
    for (double most = 11; most < 100; most++) {
        struct accepting server = {.most = most};
        double lower, upper;

        simulated_hold(&s,
                       &(struct search_config){.min = 10,
                                               .max = 100,
                                               .whole = true,
                                               .width = 0.02,
                                               .time_ns = 3600 * S_NS,
                                               .queries_per_s = 50},
                       &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower == most);
        assert_true(1 - lower / upper <= 0.02 + 1e-9 || upper == most + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_load_doubles_until_a_trial_is_bad),
        cmocka_unit_test(the_bounds_enclose_the_capacity),
        cmocka_unit_test(rounds_that_try_their_bounds_again_start_with_the_smaller_load),
        cmocka_unit_test(the_answer_takes_most_of_eleven_trials),
        cmocka_unit_test(a_long_trial_confirms_and_an_overload_shows_the_recovery),
        cmocka_unit_test(
            no_capacity_is_claimed_beyond_what_the_confirmation_of_the_lower_bound_vouches_for),
        cmocka_unit_test(no_load_lies_outside_the_range),
        cmocka_unit_test(where_every_load_is_good_the_answer_is_at_least),
        cmocka_unit_test(where_every_load_is_bad_the_answer_is_less_than),
        cmocka_unit_test(whole_numbers_end_one_apart),
        cmocka_unit_test(of_connections_no_more_are_claimed_than_were_held),
        cmocka_unit_test(a_lucky_load_above_a_bad_one_does_not_count),
        cmocka_unit_test(trials_are_as_long_as_the_percentile_needs),
        cmocka_unit_test(each_round_has_its_length_of_a_trial),
        cmocka_unit_test(known_bounds_are_never_forgotten),
        cmocka_unit_test(the_least_time_has_room_for_the_first_trial),
        cmocka_unit_test(a_server_that_accepts_no_more_is_tried_at_what_it_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
