/* SPDX-License-Identifier: MIT
 * test_search_narrow: what a search does with its time after a load below others was confirmed. */
#include "client/search/search_narrow.h"

#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "simulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct trial_judgment IN_DOUBT = {TRIAL_BAD, TRIAL_IN_DOUBT, 0};

static const struct search_config seven_min = SIMULATED_CONFIG(10000000);

static struct search s;
static double lower, upper;

/* A search of up to 20 min. */
static struct search_config long_search(void)
{
    struct search_config config = seven_min;

    config.time_ns = 1200 * S_NS;
    return config;
}

/* Sustains its capacity, but for a few seconds 20,000/s. */
static struct trial_judgment tired(struct simulated *server, double load, double duration_s)
{
    return load <= (duration_s > 5 ? server->capacity : 20000) ? GOOD : BAD;
}

static struct simulated tired_above(double capacity)
{
    return (struct simulated){
        .trial = tired, .capacity = capacity, .failed_part = 0.4, .recovery_ns = S_NS};
}

/* Searches until a load below others was confirmed.  Returns the time. */
static uint64_t search_to_confirmed(const struct search_config *config, struct simulated *server)
{
    struct search_order order;
    uint64_t elapsed_ns = 0;

    search_init(&s, config);
    while (s.descended_to == 0 && search_next(&s, elapsed_ns, &order))
        elapsed_ns = simulated_take(&s, &order, server, elapsed_ns);
    assert_true(s.confirmed && s.descended_to > 0);
    search_bounds(&s, &lower, &upper);
    return elapsed_ns;
}

/* Gives the next order, a confirmation, this outcome.  Returns its load. */
static double next_is(uint64_t elapsed_ns, struct trial_judgment judgment)
{
    struct search_order order;

    assert_true(search_next(&s, elapsed_ns, &order));
    assert_int_equal(order.step, SEARCH_CONFIRM);
    search_take(&s, judgment);
    search_bounds(&s, &lower, &upper);
    return order.load;
}

static void the_rest_of_the_time_narrows_the_bounds(void **state)
{
    const struct search_config config = long_search();

    (void)state;
    for (double capacity = 12000; capacity < 19500; capacity += 500) {
        struct simulated server = tired_above(capacity);
        const uint64_t took_ns = simulated_search(&s, &config, &server);

        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower <= capacity && capacity < upper);
        assert_true(1 - lower / upper <= config.width);
        assert_true(search_capacity(&s) == lower);
        assert_true(s.recovery_known && took_ns <= config.time_ns);
    }
}

/* Not even a short one: the answer stands, and the recovery is measured, too. */
static void time_is_left_for_all_of_a_trial_and_for_the_recovery(void **state)
{
    const uint64_t recovery_ns = 5 * S_NS + SEARCH_RECOVER_NS;
    unsigned n_narrowed = 0;

    (void)state;
    for (uint64_t time_s = 400; time_s < 1200; time_s += 10) {
        struct search_config config = long_search();
        struct simulated server = tired_above(17000);
        struct search_order order;
        uint64_t elapsed_ns;

        config.time_ns = time_s * S_NS;
        elapsed_ns = search_to_confirmed(&config, &server);
        while (search_next(&s, elapsed_ns, &order) && order.step == SEARCH_CONFIRM) {
            n_narrowed++;
            assert_true(order.duration_ns >= search_confirm_ns(&s));
            elapsed_ns = simulated_take(&s, &order, &server, elapsed_ns);
            assert_true(elapsed_ns + recovery_ns + 2 * OVERHEAD_NS <= config.time_ns);
        }
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.cut_by,
                         1 - lower / upper > config.width ? SEARCH_TIME : SEARCH_NO_REASON);
    }
    assert_true(n_narrowed > 0);
}

/* As after a trial that loses queries, or connections. */
static void slow_transitions_leave_time_for_the_recovery_too(void **state)
{
    const uint64_t slow_ns = 5 * S_NS, recovery_ns = 5 * S_NS + SEARCH_RECOVER_NS;
    unsigned n_narrowed = 0;

    (void)state;
    for (uint64_t time_s = 400; time_s < 1200; time_s += 10) {
        struct search_config config = long_search();
        struct simulated server = tired_above(17000);
        struct search_order order;
        uint64_t elapsed_ns = 0;

        config.time_ns = time_s * S_NS;
        search_init(&s, &config);
        while (search_next(&s, elapsed_ns, &order) &&
               (order.step != SEARCH_CONFIRM || !s.confirmed) && order.step != SEARCH_OVERLOAD)
            elapsed_ns = simulated_take(&s, &order, &server, elapsed_ns) + slow_ns;
        for (; s.status == SEARCH_RUNNING && order.step == SEARCH_CONFIRM; n_narrowed++) {
            elapsed_ns = simulated_take(&s, &order, &server, elapsed_ns) + slow_ns;
            assert_true(elapsed_ns + recovery_ns + 2 * OVERHEAD_NS <= config.time_ns);
            search_next(&s, elapsed_ns, &order);
        }
    }
    assert_true(n_narrowed > 0);
}

static void without_a_recovery_the_last_trial_has_its_time(void **state)
{
    struct search_config config = long_search();
    struct simulated server = tired_above(17000);
    struct search_order order;
    uint64_t elapsed_ns;

    (void)state;
    config.tries_recovery = false;
    elapsed_ns = search_to_confirmed(&config, &server);
    s.config.time_ns = elapsed_ns + 60 * S_NS + OVERHEAD_NS;
    assert_int_equal(search_confirm_ns(&s), 60 * S_NS);
    assert_true(search_next(&s, elapsed_ns, &order));
    assert_int_equal(order.step, SEARCH_CONFIRM);
    assert_false(search_next(&s, elapsed_ns + 1, &order));
    assert_int_equal(s.status, SEARCH_FOUND);
}

static void an_answer_that_needed_no_lower_load_is_not_narrowed(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = simulated_with_cliff(20000);

    (void)state;
    simulated_search(&s, &config, &server);
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 1);
}

static void a_middle_that_is_bad_is_passed_over(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double below = lower, failed = search_confirm_failed_above(&s, lower);
    const double middle = next_is(elapsed_ns, BAD), second = next_is(elapsed_ns, GOOD);

    (void)state;
    assert_true(fabs(middle / sqrt(below * failed) - 1) < 1e-3);
    assert_true(fabs(second / sqrt(below * middle) - 1) < 1e-3);
    assert_true(lower == second);
}

static void a_load_that_was_in_doubt_once_is_tried_again(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double below = lower, middle = next_is(elapsed_ns, IN_DOUBT);

    (void)state;
    assert_true(lower == below && upper > middle);
    assert_true(next_is(elapsed_ns, IN_DOUBT) == middle);
    assert_true(lower == below && upper > middle);
    assert_true(next_is(elapsed_ns, GOOD) < middle);
}

static void void_trials_leave_the_answer_as_it_was(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double below = lower, above = upper, middle = next_is(elapsed_ns, VOID);
    struct search_order order;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(next_is(elapsed_ns, VOID) == middle);
    assert_true(search_next(&s, elapsed_ns, &order));
    assert_int_equal(order.step, SEARCH_OVERLOAD);
    assert_true(lower == below && upper == above);
    assert_int_equal(s.cut_by, SEARCH_VOID);
    assert_true(s.void_load == middle);
    search_stop(&s, SEARCH_STOPPED);
    assert_int_equal(s.status, SEARCH_FOUND);
}

/* Fails the loads in between until the lowest that failed is as close as the width. */
static double fail_close_to_lower(uint64_t elapsed_ns)
{
    double failed;

    do
        failed = search_confirm_failed_above(&s, lower);
    while (1 - lower / failed > s.config.width && next_is(elapsed_ns, BAD) > 0);
    return failed;
}

/* Fewer than four bad trials do not outvote the shorter trials of a round. */
static void the_lowest_load_that_failed_is_tried_until_it_is_refuted(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double below = lower, failed = fail_close_to_lower(elapsed_ns);
    struct search_order order;

    (void)state;
    assert_true(1 - lower / upper > config.width);
    for (int i = 0; i < 3; i++)
        assert_true(next_is(elapsed_ns, BAD) == failed);
    assert_true(lower == below && upper == failed);
    assert_true(search_next(&s, elapsed_ns, &order));
    assert_int_equal(order.step, SEARCH_OVERLOAD);
}

static void the_lowest_load_that_failed_may_be_confirmed_after_all(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double failed = fail_close_to_lower(elapsed_ns);

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_true(next_is(elapsed_ns, GOOD) == failed);
    assert_true(lower == failed && s.descended_to == failed);
}

/* Then the answer is that of a search in which no confirmation failed. */
static void the_first_load_may_be_confirmed_after_all(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(19000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    double first = 0;

    (void)state;
    while (s.descended_to > 0 && first < 20000)
        first = next_is(elapsed_ns, GOOD);
    search_stop(&s, SEARCH_STOPPED);
    assert_true(s.descended_to == 0);
    assert_true(lower > first && 1 - lower / upper <= config.width);
    assert_true(fabs(search_capacity(&s) * SEARCH_CONFIRM_PART / first - 1) < 1e-3);
}

/* Bounds that were cut short in the last round remain so if they are the answer after all. */
static void a_first_load_that_is_confirmed_after_all_has_the_bounds_of_the_rounds(void **state)
{
    const struct search_config config = long_search();

    (void)state;
    for (int i = 0; i < 2; i++) {
        const enum search_reason cut_by = i == 0 ? SEARCH_NO_REASON : SEARCH_TIME;
        struct simulated server = tired_above(19000);
        const uint64_t elapsed_ns = search_to_confirmed(&config, &server);

        s.cut_by = cut_by;
        while (s.descended_to > 0)
            next_is(elapsed_ns, GOOD);
        search_stop(&s, SEARCH_STOPPED);
        assert_int_equal(s.cut_by, cut_by);
    }
}

/* While a trial waits for its connections, for example. */
static void bounds_that_were_to_be_narrowed_when_time_ran_out_are_cut(void **state)
{
    static const enum search_reason reasons[] = {SEARCH_TIME, SEARCH_STOPPED};
    const struct search_config config = long_search();

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct simulated server = tired_above(14000);
        const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
        struct search_order order;

        assert_true(search_next(&s, elapsed_ns, &order));
        assert_int_equal(order.step, SEARCH_CONFIRM);
        search_stop(&s, reasons[i]);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_int_equal(s.cut_by, reasons[i]);
    }
}

/* The trials without a server refute nothing. */
static void a_server_that_is_lost_meanwhile_leaves_the_answer_as_it_was(void **state)
{
    const struct search_config config = long_search();
    struct simulated server = tired_above(14000);
    const uint64_t elapsed_ns = search_to_confirmed(&config, &server);
    const double below = lower, above = upper;

    (void)state;
    for (int i = 0; i < 4; i++)
        next_is(elapsed_ns, BAD);
    assert_true(upper < above);
    search_lose_server(&s, 0);
    search_bounds(&s, &lower, &upper);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_int_equal(s.cut_by, SEARCH_SERVER_GONE);
    assert_true(lower == below && upper == above);
}

static void no_load_lies_between_two_integers(void **state)
{
    struct search_config config = long_search();
    struct simulated server = tired_above(13);

    (void)state;
    config.whole = true;
    config.max = 100;
    config.queries_per_s = 1000;
    config.tries_recovery = false;
    simulated_search(&s, &config, &server);
    search_bounds(&s, &lower, &upper);
    assert_true(lower == 13 && upper == 14);
}

/* --- many searches --- */

/* Speed changes by 2 %, and for short trials by 8 %, as on a machine that others share. */
static struct trial_judgment changing(struct simulated *server, double load, double duration_s)
{
    const double part = duration_s > 5 ? 0.02 : 0.08;

    return tired(server, load * (1 + part * (2 * rng_uniform(&server->rng) - 1)), duration_s);
}

/* It pauses for a moment every 30 s, which it has no room for above its capacity. */
static struct trial_judgment pausing(struct simulated *server, double load, double duration_s)
{
    const bool pauses = fmod(server->now_s, 30) + duration_s > 30;

    return load <= (pauses ? server->capacity : 20000) ? GOOD : BAD;
}

/* Slows down by 5 % in 10 minutes, at the middle of which it has its capacity. */
static struct trial_judgment drifting(struct simulated *server, double load, double duration_s)
{
    return tired(server, load * (1 + 0.05 * (server->now_s / 600 - 0.5)), duration_s);
}

/* Whether the 1 % of slow queries is exceeded is often open within 2 % of the capacity. */
static struct trial_judgment doubtful(struct simulated *server, double load, double duration_s)
{
    const bool is_close = fabs(load / server->capacity - 1) < 0.02;

    return server->step == SEARCH_CONFIRM && is_close && rng_uniform(&server->rng) < 0.5
               ? IN_DOUBT
               : tired(server, load, duration_s);
}

struct answers {
    unsigned n_found;
    unsigned n_true;  /* the capacity lies between the bounds, apart from a tolerance */
    unsigned n_close; /* the bounds are as close as the width */
};

/* Searches of servers that sustain 12,000 to 19,500/s. */
static struct answers search_many(const char *name, struct simulated server, double tolerance,
                                  const struct search_config *config)
{
    struct answers a = {0};
    double sum = 0;

    server.recovery_ns = S_NS;
    server.failed_part = 0.6;
    for (unsigned i = 0; i < simulated_n_searches(); i++) {
        struct simulated fresh = server;

        rng_seed(&fresh.rng, 42, i);
        fresh.capacity = 12000 + 7500 * rng_uniform(&fresh.rng);
        assert_true(simulated_search(&s, config, &fresh) <= config->time_ns);
        if (s.status != SEARCH_FOUND)
            continue;
        search_bounds(&s, &lower, &upper);
        a.n_found++;
        a.n_true +=
            lower <= fresh.capacity * (1 + tolerance) && upper > fresh.capacity * (1 - tolerance);
        a.n_close += 1 - lower / upper <= config->width + 1e-9;
        sum += 1 - lower / upper;
    }
    printf(
        "%s, %.0f s: %u of %u found, %u hold the capacity, %u within %g %%; mean width %.1f %%\n",
        name, (double)config->time_ns / (double)S_NS, a.n_found, simulated_n_searches(), a.n_true,
        a.n_close, 100 * config->width, 100 * sum / a.n_found);
    assert_true(100 * a.n_true >= 97 * a.n_found);
    return a;
}

static const struct {
    const char *name;
    struct simulated server;
    double tolerance;
} servers[] = {
    {"sharp", {.trial = tired}, 0},          {"noise 10 %", {.trial = tired, .p_noise = 0.1}, 0},
    {"changing", {.trial = changing}, 0.02}, {"pausing", {.trial = pausing}, 0},
    {"drifting", {.trial = drifting}, 0.05}, {"doubtful", {.trial = doubtful}, 0.02},
};

static void bounds_become_narrow_and_hold_the_capacity(void **state)
{
    const struct search_config config = long_search();

    (void)state;
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        const struct answers a =
            search_many(servers[i].name, servers[i].server, servers[i].tolerance, &config);

        assert_true(a.n_found == simulated_n_searches());
        assert_true(10 * a.n_close >= 8 * a.n_found);
    }
}

/* The loads are far below those that short trials find, but a lower one is confirmed in time. */
static void seven_minutes_are_enough_for_a_lower_load(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        const struct answers a =
            search_many(servers[i].name, servers[i].server, servers[i].tolerance, &seven_min);

        assert_true(10 * a.n_found >= 9 * simulated_n_searches());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_of_the_time_narrows_the_bounds),
        cmocka_unit_test(time_is_left_for_all_of_a_trial_and_for_the_recovery),
        cmocka_unit_test(slow_transitions_leave_time_for_the_recovery_too),
        cmocka_unit_test(without_a_recovery_the_last_trial_has_its_time),
        cmocka_unit_test(an_answer_that_needed_no_lower_load_is_not_narrowed),
        cmocka_unit_test(a_middle_that_is_bad_is_passed_over),
        cmocka_unit_test(a_load_that_was_in_doubt_once_is_tried_again),
        cmocka_unit_test(void_trials_leave_the_answer_as_it_was),
        cmocka_unit_test(the_lowest_load_that_failed_is_tried_until_it_is_refuted),
        cmocka_unit_test(the_lowest_load_that_failed_may_be_confirmed_after_all),
        cmocka_unit_test(the_first_load_may_be_confirmed_after_all),
        cmocka_unit_test(a_first_load_that_is_confirmed_after_all_has_the_bounds_of_the_rounds),
        cmocka_unit_test(bounds_that_were_to_be_narrowed_when_time_ran_out_are_cut),
        cmocka_unit_test(a_server_that_is_lost_meanwhile_leaves_the_answer_as_it_was),
        cmocka_unit_test(no_load_lies_between_two_integers),
        cmocka_unit_test(bounds_become_narrow_and_hold_the_capacity),
        cmocka_unit_test(seven_minutes_are_enough_for_a_lower_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
