/* SPDX-License-Identifier: MIT
 * test_run_stages: when the load starts and ends, which runs open no more connections if the server
 * answers no more, and how a search ends the run. */
#include "client/run_stages.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/sweep.h"
#include "workers_steps.h"

#define S UNITS_NS_PER_S

static struct client_run_settings settings;
static struct client_config config;
static struct client_result result;
static struct client_run_state r;

static int setup(void **state)
{
    const int failed = start_workers();

    (void)state;
    config = (struct client_config){.n_workers = N_WORKERS,
                                    .n_at_begin = N_WORKERS * CONNS_EACH,
                                    .n_connections = N_WORKERS * CONNS_EACH,
                                    .connect_window = 2,
                                    .connect_timeout_ns = S,
                                    .timeout_ns = S,
                                    .prove = true,
                                    .quiet = true};
    settings = (struct client_run_settings){.settle_ns = S};
    result = (struct client_result){0};
    r = (struct client_run_state){
        .config = &config, .settings = &settings, .result = &result, .workers = workers};
    client_steer_init(&r.steer, &config, &r.workers);
    return failed;
}

static int teardown(void **state)
{
    (void)state;
    stop_workers();
    return 0;
}

/* --- the load --- */

/* A worker has entered the stage, and has a connection. */
static void enter(int worker, enum client_stage stage, bool is_live)
{
    all[worker].figures.n_live = is_live;
    client_stage_enter(&all[worker].stages, stage);
    client_run_follow_stages(&r);
}

/* Both workers have entered the stage; the first has a connection. */
static void enter_both(enum client_stage stage)
{
    client_stage_enter(&all[1].stages, stage);
    enter(0, stage, true);
}

static void load_starts_after_the_settle_time_once_all_are_connected(void **state)
{
    const uint64_t before_ns = clock_now_ns();

    (void)state;
    config.warmup_ns = 2 * S;
    config.duration_ns = 5 * S;
    r.progress.start_ns = before_ns;
    result.started_epoch_ns = 1000 * S;
    enter(0, CLIENT_CONNECTED, true);
    assert_false(r.started);
    assert_false(take_posted(CLIENT_START));
    enter(1, CLIENT_CONNECTED, false);
    assert_true(r.started);
    assert_true(take_posted(CLIENT_START));
    assert_true(r.begin_ns >= before_ns + S);
    assert_true(r.begin_ns <= clock_now_ns() + S);
    assert_int_equal(r.measure_ns - r.begin_ns, 2 * S);
    assert_int_equal(r.end_ns - r.measure_ns, 5 * S);
    assert_int_equal(r.steer.targets.end_ns, r.end_ns);
    assert_true(result.loaded);
    assert_true(r.has_load);
    assert_int_equal(result.measured_epoch_ns - 1000 * S, r.measure_ns - before_ns);
    assert_int_equal(r.intervals.last_ns, r.begin_ns - S); /* the log has the settle time */
    assert_int_equal(r.intervals.previous_ns, r.begin_ns - S);
    for (int i = 0; i < N_WORKERS; i++)
        assert_int_equal(all[i].worker.values[CLIENT_START], r.begin_ns);
    assert_true(takes_arrivals[0]);
    assert_false(takes_arrivals[1]); /* it has no connection and will have none */
    enter(0, CLIENT_LOADING, true);
    assert_false(take_posted(CLIENT_START)); /* once is enough */
}

static void load_without_a_duration_has_no_end(void **state)
{
    (void)state;
    config.duration_ns = PACER_NEVER;
    enter_both(CLIENT_CONNECTED);
    assert_true(r.started);
    assert_true(r.end_ns == PACER_NEVER);
    assert_true(r.steer.targets.end_ns == PACER_NEVER);
}

static void workers_that_may_get_a_connection_take_arrivals(void **state)
{
    (void)state;
    config.reconnect = true;
    enter_both(CLIENT_CONNECTED);
    assert_true(takes_arrivals[0] && takes_arrivals[1]);
    assert_ptr_equal(all[1].takes_arrivals, takes_arrivals);
}

static void what_was_counted_before_the_load_is_remembered(void **state)
{
    (void)state;
    all[0].figures.tally.connections.syn_retransmits = 3;
    all[1].figures.tally.connections.syn_retransmits = 4;
    all[1].figures.tally.connections.replaced = 2;
    enter_both(CLIENT_CONNECTED);
    assert_int_equal(result.syn_retransmits_loaded, 7);
    assert_int_equal(result.replaced_loaded, 2);
}

static void without_a_connection_there_is_no_load(void **state)
{
    (void)state;
    client_stage_enter(&all[1].stages, CLIENT_CONNECTED);
    enter(0, CLIENT_CONNECTED, false);
    assert_false(r.started);
    assert_false(result.loaded);
    assert_true(take_posted(CLIENT_STOP));
    assert_true(r.stopped_ns > 0);
}

static void with_connections_to_come_there_is_load_without_one(void **state)
{
    (void)state;
    config.on_demand = true;
    client_stage_enter(&all[1].stages, CLIENT_CONNECTED);
    enter(0, CLIENT_CONNECTED, false);
    assert_true(r.started);
    assert_true(take_posted(CLIENT_START));
    assert_false(take_posted(CLIENT_STOP));
}

static void interrupted_run_starts_no_load(void **state)
{
    (void)state;
    client_run_interrupt(&r);
    assert_true(result.interrupted);
    assert_true(take_posted(CLIENT_STOP));
    enter_both(CLIENT_CONNECTED);
    assert_false(r.started);
    assert_false(take_posted(CLIENT_START));
}

static void drain_last(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    enter(1, CLIENT_DRAINED, true);
}

/* Its connections are counted while they are open. */
static void run_ends_once_all_are_drained(void **state)
{
    static const struct timeval at_once;

    (void)state;
    config.socket.datagrams = true; /* its sockets are not counted */
    r.base = event_base_new();
    assert_non_null(r.base);
    r.started = true;
    enter(0, CLIENT_DRAINED, true);
    assert_false(r.closing);
    assert_false(take_posted(CLIENT_CLOSE));
    assert_int_equal(event_base_once(r.base, -1, EV_TIMEOUT, drain_last, NULL, &at_once), 0);
    event_base_loop(r.base, EVLOOP_ONCE);
    assert_true(event_base_got_break(r.base));
    assert_true(r.closing);
    assert_int_equal(result.connections_live, 2);
    assert_true(take_posted(CLIENT_CLOSE));
    assert_false(result.has_sockets);
    event_base_free(r.base);
}

/* --- the start of several hosts --- */

static struct start_gate_settings at;

/* Arrives at a gate that opens in wait_ns. */
static void arrive(int64_t wait_ns)
{
    at = (struct start_gate_settings){.late_max_ns = 100 * S, .quiet = true};
    at.at_epoch_ns = clock_now_ns() + clock_realtime_offset_ns() + (uint64_t)wait_ns;
    settings.gate = &at;
    start_gate_init(&result.start);
    r.base = event_base_new();
    assert_non_null(r.base);
    enter_both(CLIENT_CONNECTED);
}

static void leave(void)
{
    start_gate_close(&r.gate);
    event_base_free(r.base);
}

static void load_starts_at_the_gate(void **state)
{
    const uint64_t origin_ns = clock_now_ns();

    (void)state;
    settings.settle_ns = 100 * S;
    r.intervals.origin_ns = r.intervals.previous_ns = r.intervals.last_ns = origin_ns;
    arrive(0);
    assert_int_equal(r.intervals.last_ns, origin_ns); /* the settle time began before the program */
    assert_true(r.started);
    assert_true(take_posted(CLIENT_START));
    assert_true(r.begin_ns <= clock_now_ns()); /* not a settle time later */
    leave();
}

static void load_waits_at_the_gate(void **state)
{
    (void)state;
    arrive(1000 * (int64_t)S);
    assert_true(r.gate.waiting);
    client_run_follow_stages(&r); /* does not arrive again */
    assert_false(r.started);
    assert_int_equal(event_base_get_num_events(r.base, EVENT_BASE_COUNT_ADDED), 1);
    r.gate.opened(r.gate.arg, 77 * S);
    assert_int_equal(r.begin_ns, 77 * S);
    assert_true(take_posted(CLIENT_START));
    leave();
}

static void gate_that_opens_when_no_connection_is_left_starts_no_load(void **state)
{
    (void)state;
    arrive(1000 * (int64_t)S);
    all[0].figures.n_live = 0;
    r.gate.opened(r.gate.arg, 77 * S);
    assert_false(r.started);
    assert_true(take_posted(CLIENT_STOP));
    assert_false(take_posted(CLIENT_START));
    leave();
}

static void missed_gate_ends_the_run(void **state)
{
    (void)state;
    arrive(-1000 * (int64_t)S);
    assert_true(result.start.missed);
    assert_true(take_posted(CLIENT_STOP));
    client_run_follow_stages(&r); /* does not arrive again */
    assert_false(take_posted(CLIENT_STOP));
    assert_false(r.started);
    leave();
}

static void interrupted_run_leaves_the_gate(void **state)
{
    (void)state;
    arrive(1000 * (int64_t)S);
    client_run_interrupt(&r);
    assert_false(r.gate.waiting);
    assert_int_equal(event_base_get_num_events(r.base, EVENT_BASE_COUNT_ADDED), 0);
    client_run_follow_stages(&r);
    assert_false(r.gate.waiting);
    leave();
}

/* --- the first window --- */

/* Looks after this many connections of each worker have settled, all with an answer or none. */
static void look_at_first_window(uint64_t n_settled, bool is_usable)
{
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.connect_window = 2;
        all[i].figures.n_wanted = CONNS_EACH;
        all[i].figures.n_settled = n_settled;
    }
    all[1].figures.n_ever_usable = is_usable;
    client_run_look_at_opening(&r, clock_now_ns());
}

static void opening_goes_on_after_the_first_answer(void **state)
{
    (void)state;
    client_run_prepare_opening(&r);
    look_at_first_window(1, false);
    assert_false(r.opens_all);
    assert_false(take_posted(CLIENT_OPEN_ALL));
    look_at_first_window(1, true);
    assert_true(r.opens_all);
    assert_true(take_posted(CLIENT_OPEN_ALL));
    look_at_first_window(2, true);
    assert_false(take_posted(CLIENT_OPEN_ALL)); /* once is enough */
    assert_false(result.gave_up);
}

static void run_gives_up_after_a_window_without_an_answer(void **state)
{
    (void)state;
    client_run_prepare_opening(&r);
    look_at_first_window(1, false);
    assert_false(result.gave_up);
    look_at_first_window(2, false);
    assert_true(result.gave_up);
    assert_true(take_posted(CLIENT_STOP));
    look_at_first_window(2, false);
    assert_false(take_posted(CLIENT_STOP)); /* once is enough */
    enter_both(CLIENT_CONNECTED);
    assert_false(r.started);
}

static void run_that_keeps_opening_does_not_give_up(void **state)
{
    (void)state;
    config.reconnect = true;
    client_run_prepare_opening(&r);
    look_at_first_window(2, false);
    assert_false(result.gave_up);
    assert_false(take_posted(CLIENT_STOP));
}

static void interrupted_or_connected_run_looks_no_more(void **state)
{
    (void)state;
    client_run_prepare_opening(&r);
    result.interrupted = true;
    look_at_first_window(2, true);
    assert_false(take_posted(CLIENT_OPEN_ALL));
    result.interrupted = false;
    r.stage = CLIENT_CONNECTED;
    look_at_first_window(2, true);
    assert_false(take_posted(CLIENT_OPEN_ALL));
}

/* --- the last windows --- */

/* One connection is usable, and two windows of others time out. */
static bool is_opening_ended(void)
{
    all[0].figures.n_ever_usable = all[0].figures.n_settled = 1;
    client_run_prepare_opening(&r);
    client_run_look_at_opening(&r, 10 * S);
    take_posted(CLIENT_OPEN_ALL);
    client_run_look_at_opening(&r, 10 * S);
    all[0].figures.n_settled = 5;
    client_run_look_at_opening(&r, 14 * S);
    return take_posted(CLIENT_OPEN_NO_MORE);
}

static void opening_ends_though_more_can_be_requested_later(void **state)
{
    (void)state;
    config.n_connections = 2 * config.n_at_begin; /* --control, --sweep connections */
    assert_true(is_opening_ended());
    assert_int_equal(result.n_futile, 4);
    client_run_look_at_opening(&r, 20 * S);
    assert_false(take_posted(CLIENT_OPEN_NO_MORE)); /* once is enough */
}

static void opening_goes_on_where_a_schedule_opens_connections(void **state)
{
    (void)state;
    config.population.n = 1;
    assert_false(is_opening_ended());
}

static void opening_goes_on_where_connections_arrive(void **state)
{
    (void)state;
    config.connect_arrival = CLIENT_CONNECT_POISSON;
    assert_false(is_opening_ended());
}

/* After a trial of a search that is over.  Returns whether the workers stop at once. */
static bool is_stopped_after(bool drained)
{
    static struct client_find find;
    static struct client_sweep sweep = {.n = 1, .n_begun = 1, .points = {{.find = &find}}};
    const struct client_run_settings searching = {.sweep = &sweep};

    find =
        (struct client_find){.settings = &sweep.settings, .config = &config, .workers = &r.workers};
    find.search.n = 1;
    find.trials[0].drained = drained;
    client_sweep_stop(&sweep);
    r.settings = &searching;
    r.end_ns = PACER_NEVER;
    client_steer_begin(&r.steer, clock_now_ns(), PACER_NEVER);
    client_run_look_at_search(&r, clock_now_ns());
    assert_true(r.end_ns != PACER_NEVER);
    assert_int_equal(r.end_ns, r.steer.targets.end_ns);
    return take_posted(CLIENT_STOP);
}

/* A client that is too slow for a trial would send the rest of it for minutes. */
static void search_behind_its_load_ends_in_time(void **state)
{
    (void)state;
    assert_true(is_stopped_after(false));
}

static void search_ends_like_any_load(void **state)
{
    (void)state;
    assert_false(is_stopped_after(true));
}

static void run_without_a_search_or_with_an_end_goes_on(void **state)
{
    static struct client_find find;
    static struct client_sweep sweep = {.n = 1, .n_begun = 1, .points = {{.find = &find}}};

    (void)state;
    r.end_ns = PACER_NEVER;
    client_run_look_at_search(&r, clock_now_ns());
    assert_true(r.end_ns == PACER_NEVER);
    settings.sweep = &sweep;
    r.end_ns = 5 * S;
    client_run_look_at_search(&r, clock_now_ns());
    assert_int_equal(r.end_ns, 5 * S);
    assert_false(take_posted(CLIENT_STOP));
}

static void interrupted_run_ends_the_search(void **state)
{
    static struct client_find find;
    static struct client_sweep sweep = {.n = 2, .n_begun = 1, .points = {{.find = &find}}};

    (void)state;
    settings.sweep = &sweep;
    client_run_interrupt(&r);
    assert_true(sweep.stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(load_starts_after_the_settle_time_once_all_are_connected,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(load_without_a_duration_has_no_end, setup, teardown),
        cmocka_unit_test_setup_teardown(workers_that_may_get_a_connection_take_arrivals, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_counted_before_the_load_is_remembered, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_a_connection_there_is_no_load, setup, teardown),
        cmocka_unit_test_setup_teardown(with_connections_to_come_there_is_load_without_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(interrupted_run_starts_no_load, setup, teardown),
        cmocka_unit_test_setup_teardown(run_ends_once_all_are_drained, setup, teardown),
        cmocka_unit_test_setup_teardown(load_starts_at_the_gate, setup, teardown),
        cmocka_unit_test_setup_teardown(load_waits_at_the_gate, setup, teardown),
        cmocka_unit_test_setup_teardown(gate_that_opens_when_no_connection_is_left_starts_no_load,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(missed_gate_ends_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(interrupted_run_leaves_the_gate, setup, teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_after_the_first_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(run_gives_up_after_a_window_without_an_answer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(run_that_keeps_opening_does_not_give_up, setup, teardown),
        cmocka_unit_test_setup_teardown(interrupted_or_connected_run_looks_no_more, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_ends_though_more_can_be_requested_later, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_a_schedule_opens_connections, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_connections_arrive, setup, teardown),
        cmocka_unit_test_setup_teardown(search_behind_its_load_ends_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(search_ends_like_any_load, setup, teardown),
        cmocka_unit_test_setup_teardown(run_without_a_search_or_with_an_end_goes_on, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(interrupted_run_ends_the_search, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
