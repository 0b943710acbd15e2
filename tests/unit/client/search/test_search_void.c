/* SPDX-License-Identifier: MIT
 * test_search_void: searches in which this host, not the server, is the limit of some loads. */
#include "client/search/search_binding.h"
#include "client/search/search_bounds.h"
#include "client/search/search_void.h"
#include "simulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct search_config config = SIMULATED_CONFIG(10000000);

static struct search s;

static unsigned n_void_left;

static struct trial_judgment void_at_first(struct simulated *server, double load, double duration_s)
{
    return n_void_left > 0 && n_void_left-- > 0 ? VOID : simulated_cliff(server, load, duration_s);
}

static void void_trials_are_repeated(void **state)
{
    struct simulated server = {.trial = void_at_first, .capacity = 20000};

    (void)state;
    n_void_left = 3;
    simulated_search(&s, &config, &server);
    assert_int_equal(s.status, SEARCH_FOUND);
    for (size_t i = 0; i < 4; i++)
        assert_true(s.trials[i].order.load == 1000);
    assert_true(s.trials[4].order.load == 2000);
}

static void a_first_load_that_stays_void_ends_the_search(void **state)
{
    struct simulated server = simulated_with_cliff(20000);

    (void)state;
    server.client_most = 500;
    simulated_search(&s, &config, &server);
    assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
    assert_int_equal(s.reason, SEARCH_VOID);
    assert_int_equal(s.n, 13); /* of 1.7 s: a twentieth of the time */
    assert_true(s.void_load == 1000);
}

/* Seconds during which the host has noise. */
static double noise_from_s, noise_to_s;

static struct trial_judgment void_meanwhile(struct simulated *server, double load,
                                            double duration_s)
{
    const bool is_void = server->now_s >= noise_from_s && server->now_s < noise_to_s;

    return is_void ? VOID : simulated_cliff(server, load, duration_s);
}

/* Wherever it begins.  The trials before do not depend on it. */
static void noise_that_passes_ends_no_search(void **state)
{
    (void)state;
    for (noise_from_s = 0; noise_from_s < 60; noise_from_s += 5) {
        struct simulated server = {.trial = void_meanwhile, .capacity = 20000, .recovery_ns = S_NS};
        double lower, upper;

        noise_to_s = noise_from_s + 15;
        simulated_search(&s, &config, &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_FOUND);
        assert_true(lower <= 20000 && 20000 < upper);
    }
}

static void add_void(enum trial_reason reason, uint64_t measured_ns)
{
    const struct search_order order = {SEARCH_DOUBLE, 1000, measured_ns};

    s.trials[s.n++] = (struct search_trial){order, {TRIAL_VOID, reason, 0}, measured_ns};
}

static void noise_may_pass_for_a_twentieth_of_the_time_and_a_minute(void **state)
{
    static const struct {
        uint64_t time_s, most_s;
    } cases[] = {{60, 3}, {420, 21}, {1200, 60}, {7200, 60}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search_config timed = config;

        timed.time_ns = cases[i].time_s * S_NS;
        search_init(&s, &timed);
        add_void(TRIAL_HOST_NOISE, S_NS);
        add_void(TRIAL_GENERATOR_LIMITED, cases[i].most_s * S_NS - S_NS - 2 * OVERHEAD_NS - 1);
        assert_true(search_void_may_pass(&s, 1000));
        s.trials[0].measured_ns++;
        assert_false(search_void_may_pass(&s, 1000));
        assert_true(search_void_may_pass(&s, 2000));
    }
}

static void what_lacks_connections_does_not_pass(void **state)
{
    (void)state;
    search_init(&s, &config);
    add_void(TRIAL_HOST_NOISE, S_NS);
    assert_true(search_void_may_pass(&s, 1000));
    add_void(TRIAL_CONNECTIONS, 0);
    assert_false(search_void_may_pass(&s, 1000));
}

/* However many were void before. */
static void after_a_trial_that_is_not_void_a_load_does_not_stay_void(void **state)
{
    (void)state;
    search_init(&s, &config);
    for (int i = 0; i < 10; i++)
        add_void(TRIAL_HOST_NOISE, S_NS);
    assert_true(search_void_stays(&s, 1000));
    add_void(TRIAL_HOST_NOISE, S_NS);
    s.trials[s.n - 1].judgment = GOOD;
    assert_false(search_void_stays(&s, 1000));
}

/* The limit of the server is between the last good load, 16,000, and 32,000, which is void. */
static void below_a_void_load_the_limit_of_the_server_is_found(void **state)
{
    (void)state;
    for (unsigned client = 20600; client < 32000; client += client / 20) {
        struct simulated server = simulated_with_cliff(20000);
        double lower, upper;

        server.client_most = client;
        simulated_search(&s, &config, &server);
        search_bounds(&s, &lower, &upper);
        assert_true(lower <= 20000 && lower >= 16000);
        if (s.status == SEARCH_FOUND)
            assert_true(upper > 20000 && upper <= client && 1 - lower / upper <= 0.02 + 1e-9);
        else
            assert_true(s.reason == SEARCH_VOID && s.void_load <= 1.25 * lower);
        if (client > 23000)
            assert_int_equal(s.status, SEARCH_FOUND);
    }
}

static void the_limit_of_this_host_is_known_to_a_fifth(void **state)
{
    (void)state;
    for (unsigned client = 1000; client < 50000; client += client / 15) {
        struct simulated server = simulated_with_cliff(60000);
        double lower, upper;

        server.client_most = client;
        simulated_search(&s, &config, &server);
        search_bounds(&s, &lower, &upper);
        assert_int_equal(s.status, SEARCH_INCONCLUSIVE);
        assert_int_equal(s.reason, SEARCH_VOID);
        assert_true(lower > 0 && lower <= client && upper == 0);
        assert_true(s.void_load > client);
        assert_true(1 - lower / s.void_load <= SEARCH_VOID_WIDTH);
    }
}

/* The reason is that of the load that ended the search, not that of a later trial of another load.
 */
static void most_void_trials_of_the_last_such_load_name_the_limit(void **state)
{
    struct simulated server = simulated_with_cliff(60000);

    (void)state;
    server.client_most = 5000;
    simulated_search(&s, &config, &server);
    assert_true(s.void_load > 5000 && s.void_load < 8000);
    assert_int_equal(search_binding(&s, s.void_load, TRIAL_VOID)->reason, TRIAL_HOST_NOISE);
    assert_null(search_binding(&s, s.void_load, TRIAL_BAD));
}

/* Fewer queries per second do not bring them back. */
static void without_its_connections_no_lower_load_is_tried(void **state)
{
    struct search_order order;

    (void)state;
    search_init(&s, &config);
    while (search_next(&s, 0, &order))
        search_take(&s, order.load < 4000
                            ? GOOD
                            : (struct trial_judgment){TRIAL_VOID, TRIAL_CONNECTIONS, 0});
    assert_int_equal(s.reason, SEARCH_VOID);
    assert_true(s.void_load == 4000);
    assert_int_equal(s.n, 2 + 4);
}

/* The first confirmations of a search are void. */
static void search_with_void_confirmations(unsigned n_void, uint64_t time_s)
{
    struct simulated server = simulated_with_cliff(20000);
    struct search_config timed = config;
    struct search_order order;
    uint64_t elapsed_ns = 0;

    timed.time_ns = time_s * S_NS;
    search_init(&s, &timed);
    while (search_next(&s, elapsed_ns, &order)) {
        const bool is_void = simulated_count(&s, SEARCH_CONFIRM) < n_void;

        if (order.step == SEARCH_RECOVER)
            search_take_recovery(&s, S_NS);
        else
            search_take(&s, order.step == SEARCH_CONFIRM && is_void
                                ? VOID
                                : simulated_trial(&server, &order));
        elapsed_ns += order.duration_ns + OVERHEAD_NS;
    }
}

static void a_confirmation_that_stays_void_is_the_load_that_ended_the_search(void **state)
{
    (void)state;
    search_with_void_confirmations(10, 420);
    assert_int_equal(s.reason, SEARCH_VOID);
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 4);
    for (size_t i = 1; i <= 4; i++)
        assert_true(s.void_load == s.trials[s.n - i].order.load);
}

static void void_confirmations_are_repeated(void **state)
{
    (void)state;
    search_with_void_confirmations(3, 420);
    assert_int_equal(s.status, SEARCH_FOUND);
    assert_int_equal(simulated_count(&s, SEARCH_CONFIRM), 4);
}

/* A longer --find-time would not help. */
static void void_confirmations_until_time_ran_out_are_the_reason(void **state)
{
    (void)state;
    search_with_void_confirmations(10, 120);
    assert_int_equal(s.reason, SEARCH_VOID);
    assert_in_range(simulated_count(&s, SEARCH_CONFIRM), 2, 3);
    assert_true(s.void_load == s.trials[s.n - 1].order.load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(void_trials_are_repeated),
        cmocka_unit_test(a_first_load_that_stays_void_ends_the_search),
        cmocka_unit_test(noise_that_passes_ends_no_search),
        cmocka_unit_test(noise_may_pass_for_a_twentieth_of_the_time_and_a_minute),
        cmocka_unit_test(what_lacks_connections_does_not_pass),
        cmocka_unit_test(after_a_trial_that_is_not_void_a_load_does_not_stay_void),
        cmocka_unit_test(below_a_void_load_the_limit_of_the_server_is_found),
        cmocka_unit_test(the_limit_of_this_host_is_known_to_a_fifth),
        cmocka_unit_test(most_void_trials_of_the_last_such_load_name_the_limit),
        cmocka_unit_test(without_its_connections_no_lower_load_is_tried),
        cmocka_unit_test(a_confirmation_that_stays_void_is_the_load_that_ended_the_search),
        cmocka_unit_test(void_confirmations_are_repeated),
        cmocka_unit_test(void_confirmations_until_time_ran_out_are_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
