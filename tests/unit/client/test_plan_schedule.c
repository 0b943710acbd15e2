/* SPDX-License-Identifier: MIT
 * test_plan_schedule: connections and queries over time, from the options. */
#include "client/plan_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S_NS 1000000000ull

static struct client_config config;
static double rate_qps;

static int plan(const struct client_opts *o)
{
    config = (struct client_config){0};
    rate_qps = -1;
    return client_plan_population(&config, o) != 0 ? -1
                                                   : client_plan_schedule(&config, &rate_qps, o);
}

static void a_constant_rate_lasts_as_long_as_the_run(void **state)
{
    (void)state;
    assert_int_equal(
        plan(&(struct client_opts){
            .connections = 7, .rate_qps = 50, .duration_ns = 10 * S_NS, .warmup_ns = 2 * S_NS}),
        0);
    assert_int_equal(config.n_connections, 7);
    assert_int_equal(config.population.n, 0);
    assert_int_equal(config.duration_ns, 10 * S_NS);
    assert_int_equal(config.warmup_ns, 2 * S_NS);
    assert_int_equal(schedule_duration_ns(&config.schedule), 12 * S_NS);
    assert_true(schedule_is_constant(&config.schedule) && rate_qps == 50);
    assert_int_equal(plan(&(struct client_opts){.connections = 1, .rate_qps = 50}), 0);
    assert_int_equal(config.duration_ns, PACER_NEVER);
    assert_int_equal(schedule_duration_ns(&config.schedule), PACER_NEVER);
}

static void a_schedule_sets_duration_and_mean_rate(void **state)
{
    const struct client_opts o = {
        .connections = 1, .schedule = "10s:0-100,10s:200", .warmup_ns = 5 * S_NS};

    (void)state;
    assert_int_equal(plan(&o), 0);
    assert_int_equal(config.duration_ns, 20 * S_NS);
    assert_int_equal(schedule_duration_ns(&config.schedule), 25 * S_NS);
    assert_true(rate_qps == 125);
    assert_true(client_plan_peak_qps(&config, &o) == 200);
    assert_int_equal(plan(&(struct client_opts){.connections = 1, .schedule = "10s"}), -1);
}

static void a_connection_schedule_sets_connections_and_duration(void **state)
{
    (void)state;
    assert_int_equal(
        plan(&(struct client_opts){.connections = 1, .conn_schedule = "5s:0-400", .rate_qps = 9}),
        0);
    assert_int_equal(config.n_connections, 400);
    assert_int_equal(config.duration_ns, 5 * S_NS);
    assert_true(rate_qps == 9);
    assert_int_equal(
        plan(&(struct client_opts){.connections = 1, .conn_schedule = "5s:400", .threads = 401}),
        -1);
    assert_int_equal(plan(&(struct client_opts){.connections = 1, .conn_schedule = "5s:0"}), -1);
}

static void with_an_interval_each_scheduled_connection_adds_its_queries(void **state)
{
    const struct client_opts o = {
        .connections = 1, .conn_schedule = "5s:0-400", .interval_ns = 2 * S_NS};

    (void)state;
    assert_int_equal(plan(&o), 0);
    assert_true(rate_qps == 100);
    assert_true(client_plan_peak_qps(&config, &o) == 200);
}

static void a_closed_loop_has_no_scheduled_queries(void **state)
{
    (void)state;
    assert_int_equal(plan(&(struct client_opts){.connections = 10,
                                                .loop = CLIENT_LOOP_CLOSED,
                                                .interval_ns = S_NS,
                                                .duration_ns = 3 * S_NS}),
                     0);
    assert_true(schedule_peak_qps(&config.schedule) == 0);
    assert_true(rate_qps == 10);
}

static void a_search_sets_the_rate_later(void **state)
{
    struct client_opts o = {
        .connections = 1, .find = CLIENT_FIND_RATE, .find_max = 5000, .rate_qps = 70};

    (void)state;
    assert_int_equal(plan(&o), 0);
    assert_true(rate_qps == 0 && schedule_peak_qps(&config.schedule) == 0);
    assert_true(client_plan_peak_qps(&config, &o) == 5000);
    o.find = CLIENT_FIND_CONNECTIONS;
    assert_true(client_plan_peak_qps(&config, &o) == 70);
}

static void a_search_churns_at_the_highest_rate_it_may_try(void **state)
{
    const struct client_opts run = {.connections = 1, .rate_qps = 50, .duration_ns = S_NS},
                             search = {.connections = 1, .find = CLIENT_FIND_RATE, .find_max = 900};

    (void)state;
    assert_int_equal(plan(&run), 0);
    assert_true(client_plan_churn_per_s(&config, &run, rate_qps) == 0);
    config.queries_per_conn = 10;
    assert_true(client_plan_churn_per_s(&config, &run, rate_qps) == 5);
    assert_int_equal(plan(&search), 0);
    config.queries_per_conn = 10;
    assert_true(client_plan_churn_per_s(&config, &search, rate_qps) == 90);
    config.queries_per_conn = 0;
    config.conn_per_query = true;
    assert_true(client_plan_churn_per_s(&config, &search, rate_qps) == 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_rate_lasts_as_long_as_the_run),
        cmocka_unit_test(a_schedule_sets_duration_and_mean_rate),
        cmocka_unit_test(a_connection_schedule_sets_connections_and_duration),
        cmocka_unit_test(with_an_interval_each_scheduled_connection_adds_its_queries),
        cmocka_unit_test(a_closed_loop_has_no_scheduled_queries),
        cmocka_unit_test(a_search_sets_the_rate_later),
        cmocka_unit_test(a_search_churns_at_the_highest_rate_it_may_try),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
