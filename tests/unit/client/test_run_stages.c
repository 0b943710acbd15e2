/* SPDX-License-Identifier: MIT
 * test_run_stages: which runs open no more connections if the server answers no more, and how a
 * search ends the run. */
#include "client/run_stages.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/sweep.h"
#include "workers_steps.h"

#define S UNITS_NS_PER_S

static const struct client_run_settings settings;
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
    result = (struct client_result){0};
    r = (struct client_run_state){
        .config = &config, .settings = &settings, .result = &result, .workers = workers};
    return failed;
}

static int teardown(void **state)
{
    (void)state;
    stop_workers();
    return 0;
}

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
    client_steer_init(&r.steer, &config, &r.workers);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opening_ends_though_more_can_be_requested_later, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_a_schedule_opens_connections, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_connections_arrive, setup, teardown),
        cmocka_unit_test_setup_teardown(search_behind_its_load_ends_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(search_ends_like_any_load, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
