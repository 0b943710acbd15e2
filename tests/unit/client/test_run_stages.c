/* SPDX-License-Identifier: MIT
 * test_run_stages: which runs open no more connections if the server answers no more. */
#include "client/run_stages.h"

#include "base/units.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opening_ends_though_more_can_be_requested_later, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_a_schedule_opens_connections, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(opening_goes_on_where_connections_arrive, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
