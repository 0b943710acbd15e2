/* SPDX-License-Identifier: MIT
 * test_find_trial: what a trial of a capacity search counts. */
#include "client/find_trial.h"

#include "workers_steps.h"

static struct client_find f;
static struct client_find_settings settings;
static struct client_config config;
static struct client_find_trial trial;

static struct tally_queries *queries(void)
{
    return &all[0].figures.tally.queries[TALLY_MEASURED];
}

static int setup(void **state)
{
    (void)state;
    config = (struct client_config){0};
    settings = (struct client_find_settings){
        .slo = {.n = 1, .goals = {{.metric = SLO_LOST, .text = "lost=0"}}}};
    f = (struct client_find){.settings = &settings, .config = &config, .workers = &workers};
    trial = (struct client_find_trial){.drained = true};
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&f.recorded[m]) != 0)
            return -1;
    return start_workers();
}

static int teardown(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&f.recorded[m]);
    stop_workers();
    return 0;
}

/* Ten of 100 are in flight as the trial begins. */
static void begin(void)
{
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 90);
    client_find_trial_begin(&f);
}

static uint64_t lost(void)
{
    client_find_trial_fill(&f, &trial);
    return trial.n_lost;
}

static void each_end_without_an_answer_is_a_loss(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 90);
    tally_add(&queries()->unsent, 1);
    tally_add(&queries()->timeout, 2);
    tally_add(&queries()->error, 3);
    tally_add(&queries()->cancelled, 4);
    assert_int_equal(lost(), 10);
    assert_int_equal(trial.figures.n_due, 100);
}

static void answers_to_earlier_queries_are_no_losses(void **state)
{
    (void)state;
    begin();
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 105);
    assert_int_equal(lost(), 0);
}

static void queries_in_flight_in_a_recovery_are_no_losses(void **state)
{
    (void)state;
    begin();
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 95);
    assert_int_equal(lost(), 0);
    tally_add(&queries()->timeout, 3);
    assert_int_equal(lost(), 3);
}

static void queries_that_never_ended_are_lost(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    trial.drained = false;
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 90);
    tally_add(&queries()->timeout, 4);
    assert_int_equal(lost(), 10);
}

/* A connection that is not reopened costs more than one query; which, nobody knows. */
static void
ports_that_run_out_while_connections_are_replaced_say_nothing_of_the_server(void **state)
{
    struct trial_judgment judgment;

    (void)state;
    for (uint32_t queries_per_conn = 0; queries_per_conn <= 10; queries_per_conn += 10) {
        config.queries_per_conn = queries_per_conn;
        client_find_trial_begin(&f);
        tally_add(&queries()->scheduled, 100);
        tally_add(&queries()->answered, 90);
        tally_add(&queries()->cancelled, 10);
        tally_add(&all[0].figures.tally.connections.ended[PHASE_BIND][REASON_PORTS], 2);
        assert_int_equal(lost(), 10);
        judgment = trial_judge(&settings.slo, &trial.figures);
        assert_int_equal(judgment.class, queries_per_conn > 0 ? TRIAL_VOID : TRIAL_BAD);
        assert_int_equal(judgment.reason, queries_per_conn > 0 ? TRIAL_NOT_OPENED : TRIAL_GOAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_end_without_an_answer_is_a_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_to_earlier_queries_are_no_losses, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_in_flight_in_a_recovery_are_no_losses, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(queries_that_never_ended_are_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(
            ports_that_run_out_while_connections_are_replaced_say_nothing_of_the_server, setup,
            teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
