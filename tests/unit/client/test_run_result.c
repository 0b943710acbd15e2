/* SPDX-License-Identifier: MIT
 * test_run_result: the result of a run that has ended.
 * Linked with --wrap=client_destinations_accept and
 * --wrap=shutdown_was_requested. */
#include "run_result_steps.h"

#include "base/shutdown.h"
#include "client/destinations.h"

static void the_load_includes_the_warm_up_and_the_measurement_does_not(void **state)
{
    (void)state;
    client_run_collect(&r);
    assert_int_equal(result.load_ns, 3600 * S);
    assert_int_equal(result.scheduled_ns, 3540 * S);
    assert_true(result.requested_qps == 100);
    result.interrupted = true;
    r.stopped_ns = r.begin_ns + 70 * S;
    client_run_collect(&r);
    assert_int_equal(result.load_ns, 70 * S);
    assert_int_equal(result.scheduled_ns, 10 * S);
    r.stopped_ns = r.end_ns + S; /* while it waited for the last answers */
    client_run_collect(&r);
    assert_int_equal(result.load_ns, 3600 * S);
    assert_int_equal(result.scheduled_ns, 3540 * S);
    r.stopped_ns = r.begin_ns - S; /* while connections waited for --start-at */
    client_run_collect(&r);
    assert_int_equal(result.load_ns, 0);
    assert_int_equal(result.scheduled_ns, 0);
    result.interrupted = false;
    r.end_ns = r.begin_ns + S; /* by request, during the warm-up */
    client_run_collect(&r);
    assert_int_equal(result.load_ns, S);
    assert_int_equal(result.scheduled_ns, 0);
}

/* The last query of any worker decides; one that waited for the server only for sent_ns. */
static void queries_were_sent_until_the_last_one_but_no_shorter_than_the_schedule(void **state)
{
    (void)state;
    all[0].figures.last_sent_ns = all[0].figures.last_unblocked_ns = r.end_ns - S;
    client_run_collect(&r);
    assert_int_equal(result.sent_ns, 3540 * S);
    assert_int_equal(result.unblocked_ns, 3540 * S);
    all[1].figures.last_sent_ns = r.end_ns + 2 * S;
    all[1].figures.last_unblocked_ns = r.end_ns + S;
    client_run_collect(&r);
    assert_int_equal(result.sent_ns, 3542 * S);
    assert_int_equal(result.unblocked_ns, 3541 * S);
}

/* They were on schedule, and are counted. */
static void queries_sent_until_the_workers_learned_of_an_interruption_are_not_late(void **state)
{
    (void)state;
    result.interrupted = true;
    r.stopped_ns = r.measure_ns + 10 * S;
    all[1].figures.last_sent_ns = all[1].figures.last_unblocked_ns = r.stopped_ns + S;
    client_run_collect(&r);
    assert_int_equal(result.scheduled_ns, 11 * S);
    assert_int_equal(result.load_ns, 71 * S);
    assert_int_equal(result.sent_ns, 11 * S);
    assert_int_equal(result.unblocked_ns, 11 * S);
    /* near the end of the schedule, some were late */
    r.stopped_ns = r.end_ns - S;
    all[1].figures.last_sent_ns = r.end_ns + S;
    client_run_collect(&r);
    assert_int_equal(result.scheduled_ns, 3540 * S);
    assert_int_equal(result.sent_ns, 3541 * S);
}

static void messages_are_measured_until_the_last_listener_stops(void **state)
{
    (void)state;
    result.interrupted = true;
    r.stopped_ns = r.measure_ns + 10 * S;
    all[0].figures.stopped_ns = r.stopped_ns + 2 * S;
    all[1].figures.stopped_ns = r.stopped_ns + S;
    client_run_collect(&r);
    assert_int_equal(result.scheduled_ns, 12 * S);
}

static void a_growing_rate_has_more_in_flight_without_any_queue(void **state)
{
    static const struct pacer_segment ramp = {3600 * S, 100, 200};

    (void)state;
    client_run_collect(&r);
    assert_false(result.has_growth); /* no samples */
    trend_add_sample(&r.trend, 1, S, 4 * S);
    trend_add_sample(&r.trend, 100, 3 * S, 4 * S);
    client_run_collect(&r);
    assert_true(result.has_growth);
    assert_int_equal(result.in_flight_early, 1);
    assert_int_equal(result.in_flight_late, 100);
    r.steer.targets.schedule.segments[0] = ramp;
    client_run_collect(&r);
    assert_false(result.has_growth);
}

static void more_connections_have_more_in_flight_in_a_closed_loop(void **state)
{
    (void)state;
    trend_add_sample(&r.trend, 1, S, 4 * S);
    trend_add_sample(&r.trend, 100, 3 * S, 4 * S);
    r.steer.targets.n_connections = config.n_at_begin + 1;
    client_run_collect(&r);
    assert_true(result.has_growth); /* as many queries as before */
    config.loop = CLIENT_LOOP_CLOSED;
    client_run_collect(&r);
    assert_false(result.has_growth);
    r.steer.targets.n_connections = config.n_at_begin;
    client_run_collect(&r);
    assert_true(result.has_growth);
    config.population = (struct schedule){.n = 1, .segments = {{3600 * S, 100, 200}}};
    client_run_collect(&r);
    assert_false(result.has_growth);
}

static void lost_queries_are_in_flight_without_any_queue(void **state)
{
    (void)state;
    trend_add_sample(&r.trend, 100, S, 4 * S);
    trend_add_sample(&r.trend, 300, 3 * S, 4 * S);
    trend_timed_out(&r.trend, 100, 6 * S, config.timeout_ns);
    client_run_collect(&r);
    assert_false(result.has_growth);
    trend_timed_out(&r.trend, 40, 6 * S, config.timeout_ns);
    client_run_collect(&r);
    assert_true(result.has_growth);
}

/* The last one was established a second after the first was begun. */
static void connections_that_are_opened_throughout_the_run_have_no_time_to_open(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.first_connect_ns = r.begin_ns - 2 * S;
        all[i].figures.last_established_ns = r.begin_ns - (i == 0 ? 2 : 1) * S;
    }
    client_run_collect(&r);
    assert_int_equal(result.connect_elapsed_ns, S);
    config.on_demand = true;
    client_run_collect(&r);
    assert_int_equal(result.connect_elapsed_ns, 0);
}

/* From 40 s after the warm-up on. */
static void a_run_was_paused_no_longer_than_it_measured(void **state)
{
    (void)state;
    r.steer.changed = r.steer.paused = true;
    r.steer.paused_since_ns = r.measure_ns + 40 * S;
    client_run_collect(&r);
    assert_true(result.steered);
    assert_int_equal(result.paused_ns, 3500 * S);
    result.interrupted = true;
    r.stopped_ns = r.measure_ns + 100 * S;
    client_run_collect(&r);
    assert_int_equal(result.paused_ns, 60 * S);
}

/* Its settle time did not end. */
static void a_run_that_ends_before_its_load_had_none(void **state)
{
    (void)state;
    result.loaded = true;
    client_run_collect(&r);
    assert_true(result.loaded);
    r.end_ns = r.begin_ns;
    client_run_collect(&r);
    assert_false(result.loaded);
}

static void a_log_that_lacks_lines_has_failed(void **state)
{
    (void)state;
    client_run_collect(&r);
    assert_false(result.log_failed);
    r.intervals.failed = true;
    client_run_collect(&r);
    assert_true(result.log_failed);
}

static void a_run_that_was_stopped_before_its_start_has_measured_nothing(void **state)
{
    (void)state;
    r.started = false;
    result.interrupted = true;
    r.stopped_ns = r.end_ns;
    client_run_collect(&r);
    assert_int_equal(result.scheduled_ns, 0);
    assert_int_equal(result.load_ns, 0);
}

static void what_workers_had_not_handed_over_is_included(void **state)
{
    (void)state;
    hist_record(&all[1].figures.metrics[CLIENT_RESPONSE], 10);
    client_run_collect(&r);
    assert_int_equal(result.metrics[CLIENT_RESPONSE].count, 1);
}

/* --- whether the server still accepts --- */

static bool accepts, is_ending;

bool __wrap_client_destinations_accept(const struct client_config *c);
bool __wrap_shutdown_was_requested(void);

bool __wrap_client_destinations_accept(const struct client_config *c)
{
    assert_ptr_equal(c, &config);
    return accepts;
}

bool __wrap_shutdown_was_requested(void)
{
    return is_ending;
}

static void a_server_is_tried_if_it_ended_connections_and_none_is_left(void **state)
{
    static const struct {
        uint64_t n_lost, n_live;
        bool datagrams, interrupted, is_ending, tried;
    } cases[] = {
        {.n_lost = 1, .tried = true},
        {.n_lost = 0},
        {.n_lost = 1, .n_live = 1},
        {.n_lost = 1, .datagrams = true},
        {.n_lost = 1, .interrupted = true},
        {.n_lost = 1, .is_ending = true}, /* the wait was cut short */
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        accepts = i % 2 != 0;
        is_ending = cases[i / 2].is_ending;
        config.socket.datagrams = cases[i / 2].datagrams;
        result.losses.idle_us.count = cases[i / 2].n_lost;
        result.connections_live = cases[i / 2].n_live;
        result.interrupted = cases[i / 2].interrupted;
        result.server_was_tried = result.server_accepts = false;
        client_run_try_server(&r);
        if (result.server_was_tried != cases[i / 2].tried ||
            (cases[i / 2].tried && result.server_accepts != accepts))
            fail_msg("case %zu, accepts %d", i / 2, accepts);
    }
    result.losses.idle_us.count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_load_includes_the_warm_up_and_the_measurement_does_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            queries_were_sent_until_the_last_one_but_no_shorter_than_the_schedule, setup, teardown),
        cmocka_unit_test_setup_teardown(
            queries_sent_until_the_workers_learned_of_an_interruption_are_not_late, setup,
            teardown),
        cmocka_unit_test_setup_teardown(messages_are_measured_until_the_last_listener_stops, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_growing_rate_has_more_in_flight_without_any_queue, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(more_connections_have_more_in_flight_in_a_closed_loop,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(lost_queries_are_in_flight_without_any_queue, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            connections_that_are_opened_throughout_the_run_have_no_time_to_open, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_was_paused_no_longer_than_it_measured, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_run_that_ends_before_its_load_had_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_log_that_lacks_lines_has_failed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_run_that_was_stopped_before_its_start_has_measured_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_workers_had_not_handed_over_is_included, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_server_is_tried_if_it_ended_connections_and_none_is_left,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
