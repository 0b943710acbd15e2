/* SPDX-License-Identifier: MIT
 * test_find_trial: what a trial of a capacity search counts. */
#include "client/find_trial.h"

#include "workers_steps.h"

#include <math.h>

static struct client_find f;
static struct client_find_settings settings;
static struct client_config config;
static struct client_find_trial trial;
static struct client_intervals intervals;

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
    intervals = (struct client_intervals){0};
    f = (struct client_find){
        .settings = &settings, .config = &config, .workers = &workers, .intervals = &intervals};
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

/* Overflows of this host's accept queues say nothing about a server on another host. */
static void overflows_are_those_of_a_server_on_this_host(void **state)
{
    (void)state;
    config.target_is_here = false;
    client_find_trial_begin(&f);
    client_find_trial_fill(&f, &trial);
    assert_true(trial.overflows == HOST_COUNTERS_UNKNOWN);
    config.target_is_here = true;
    client_find_trial_begin(&f);
    client_find_trial_fill(&f, &trial);
    assert_true(trial.overflows != HOST_COUNTERS_UNKNOWN);
}

/* Each count in a digit of its own. */
static void queries_without_an_end_are_open(void **state)
{
    struct tally_queries *warmup = &all[1].figures.tally.queries[TALLY_WARMUP];

    (void)state;
    tally_add(&queries()->scheduled, 987654);
    tally_add(&queries()->unsent, 1);
    tally_add(&queries()->answered, 20);
    tally_add(&queries()->timeout, 300);
    tally_add(&queries()->error, 4000);
    tally_add(&queries()->cancelled, 50000);
    tally_add(&warmup->scheduled, 5000000);
    tally_add(&warmup->answered, 1000000);
    assert_int_equal(client_find_trial_open(&f), 987654 - 54321 + 4000000);
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

static bool window_shows_recovery(uint64_t n_due, unsigned n_answered, uint64_t n_timeout)
{
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, n_due);
    tally_add(&queries()->answered, n_answered);
    tally_add(&queries()->timeout, n_timeout);
    for (unsigned i = 0; i < n_answered; i++)
        hist_record(&f.recorded[CLIENT_RESPONSE], 1000);
    client_find_trial_fill(&f, &trial);
    return client_find_trial_shows_recovery(&f, &trial);
}

/* A second at a low rate may have no query, or one that is still in flight. */
static void a_window_without_answers_shows_no_recovery(void **state)
{
    (void)state;
    assert_false(window_shows_recovery(0, 0, 0));
    assert_false(window_shows_recovery(1, 0, 0));
    assert_true(window_shows_recovery(1, 1, 0));
    assert_false(window_shows_recovery(3, 1, 0));
    assert_true(window_shows_recovery(3, 2, 0));
    assert_true(window_shows_recovery(4, 2, 0));  /* half of them */
    assert_false(window_shows_recovery(3, 2, 1)); /* lost=0 */
}

/* Half of the queries are late, because this host sent them late. */
static void a_window_that_this_host_decided_shows_nothing(void **state)
{
    (void)state;
    settings.slo.goals[0] = (struct slo_goal){.metric = SLO_RESPONSE, .limit_ns = 1000000};
    f.order = (struct search_order){.step = SEARCH_RECOVER, .duration_ns = 30000000000};
    for (int is_own = 0; is_own <= 1; is_own++) {
        client_find_trial_begin(&f);
        tally_add(&queries()->scheduled, 10);
        tally_add(&queries()->answered, 10);
        for (unsigned i = 0; i < 10; i++) {
            hist_record(&f.recorded[CLIENT_RESPONSE], i < 5 ? 100000 : 2000000);
            hist_record(&f.recorded[CLIENT_OWN], is_own && i >= 5 ? 1900000 : 1000);
        }
        f.measure_ns = 0;
        f.end_ns = 1000000000;
        client_find_trial_fill(&f, &trial);
        assert_false(client_find_trial_shows_recovery(&f, &trial));
        assert_int_equal(client_find_trial_is_void(&f, &trial), is_own);
        assert_int_equal(trial.figures.n_behind, 0);
    }
    hist_record(&f.recorded[CLIENT_OWN], 20000000); /* 2 % of the window, not of the recovery */
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.figures.n_behind, 1);
    client_find_trial_begin(&f);
    client_find_trial_fill(&f, &trial);
    assert_true(client_find_trial_is_void(&f, &trial)); /* nothing was due */
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

/* Without a drain, too: ten of the 105 that end were in flight before. */
static void outcomes_of_earlier_queries_hide_no_loss(void **state)
{
    (void)state;
    begin();
    trial.drained = false;
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 102);
    assert_int_equal(lost(), 0);
    tally_add(&queries()->timeout, 3);
    assert_int_equal(lost(), 3);
}

static uint64_t own(void)
{
    client_find_trial_fill(&f, &trial);
    return trial.figures.goals[0].own;
}

static void what_this_host_may_have_lost_is_counted(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 90);
    tally_add(&queries()->cancelled, 10);
    assert_int_equal(own(), 0);
    tally_add(&all[0].figures.tally.datagrams.dropped, 1);
    assert_int_equal(own(), 1);
    tally_add(&all[0].figures.tally.connections.ended[PHASE_BIND][REASON_PORTS], 2);
    assert_int_equal(own(), 1); /* no connection is reopened */
    settings.what = CLIENT_FIND_CONNECT_RATE;
    assert_int_equal(own(), 1 + 2); /* a query each */
    settings.what = CLIENT_FIND_RATE;
    config.queries_per_conn = 10;
    assert_int_equal(own(), 1 + 100 + 10); /* any of them */
}

/* In a search for a connect rate, each connection has a query. */
static void connections_that_this_host_opened_late_say_nothing_of_the_server(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    settings.slo.goals[0] = (struct slo_goal){.metric = SLO_RESPONSE, .limit_ns = 1000000};
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 10);
    tally_add(&queries()->answered, 10);
    for (unsigned i = 0; i < 10; i++) {
        hist_record(&f.recorded[CLIENT_RESPONSE], 2000000);
        hist_record(&f.recorded[CLIENT_OPEN_LAG], 1900000);
    }
    f.order.duration_ns = 1000000000;
    client_find_trial_fill(&f, &trial);
    assert_true(client_find_trial_is_void(&f, &trial));
}

/* Half of the queries are lost within 1 s, so the trial ends; this host sent all 20 ms late. */
static struct trial_judgment judge_lost_trial(uint64_t planned_ns)
{
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 50);
    tally_add(&queries()->timeout, 50);
    for (unsigned i = 0; i < 100; i++)
        hist_record(&f.recorded[CLIENT_OWN], 20000000);
    f.order.duration_ns = planned_ns;
    f.measure_ns = 0;
    f.end_ns = 1000000000;
    client_find_trial_fill(&f, &trial);
    return trial_judge(&settings.slo, &trial.figures);
}

static void a_trial_that_ends_early_is_as_tolerant_of_delays_as_planned(void **state)
{
    (void)state;
    assert_int_equal(judge_lost_trial(10000000000).class, TRIAL_BAD);
    assert_int_equal(judge_lost_trial(1000000000).reason, TRIAL_GENERATOR_LIMITED);
}

/* A connection that is not reopened costs more than one query; which ones is unknown. */
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
        assert_int_equal(trial.n_without_port, queries_per_conn > 0 ? 2 : 0);
        assert_int_equal(trial.figures.n_not_opened, trial.n_without_port);
    }
}

static void connections_without_a_port_are_told_from_others_not_opened(void **state)
{
    tally_count(*ended)[OUTCOME_N_REASONS] = all[0].figures.tally.connections.ended;

    (void)state;
    tally_add(&ended[PHASE_BIND][REASON_PORTS], 100); /* before the trial */
    client_find_trial_begin(&f);
    tally_add(&ended[PHASE_BIND][REASON_PORTS], 2);
    tally_add(&ended[PHASE_CONNECT][REASON_PORTS], 1);
    tally_add(&ended[PHASE_SOCKET][REASON_FDS], 4);
    client_find_trial_fill_connecting(&f, &trial);
    assert_int_equal(trial.figures.n_not_opened, 7);
    assert_int_equal(trial.n_without_port, 3);
}

/* UINT64_MAX: unknown. */
static void handshakes_of_a_trial_are_counted_with_tls(void **state)
{
    struct tally *t = &all[0].figures.tally;
    struct tls_context tls;

    (void)state;
    trial.handshakes = trial.resumed = UINT64_MAX;
    tally_add(&t->connections.secured, 100); /* before the trial */
    tally_add(&t->connections.resumed, 90);
    client_find_trial_begin(&f);
    tally_add(&t->connections.secured, 7);
    tally_add(&t->connections.resumed, 5);
    client_find_trial_fill_connecting(&f, &trial);
    assert_true(trial.handshakes == UINT64_MAX && trial.resumed == UINT64_MAX);
    config.tls = &tls;
    client_find_trial_fill_connecting(&f, &trial);
    assert_int_equal(trial.handshakes, 7);
    assert_int_equal(trial.resumed, 5);
}

static void only_queries_with_a_connection_each_wait_for_it(void **state)
{
    (void)state;
    config.timeout_ns = 5;
    config.connect_timeout_ns = 300;
    assert_int_equal(client_find_trial_latest_ns(&f), 5);
    config.conn_per_query = true;
    assert_int_equal(client_find_trial_latest_ns(&f), 305);
}

static void times_of_a_trial_are_its_median_and_its_99th_percentile(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    client_find_trial_begin(&f);
    for (int i = 0; i < 1000; i++) {
        const uint64_t ms = i < 450 ? 1 : i < 985 ? 2 : 3;

        hist_record(&f.recorded[CLIENT_RESPONSE], ms * 1000000);
        hist_record(&f.recorded[CLIENT_DUE_CONNECTED], ms * 10000000);
    }
    client_find_trial_fill(&f, &trial);
    assert_int_equal(hist_index(trial.p50_ns), hist_index(2000000));
    assert_int_equal(trial.p99_ns, 3000000);
    assert_int_equal(trial.connect_p99_ns, 30000000);
}

static void a_connection_is_opened_when_its_handshake_is_over(void **state)
{
    struct tls_context tls;

    (void)state;
    client_find_trial_begin(&f);
    for (int i = 0; i < 1000; i++) {
        hist_record(&f.recorded[CLIENT_DUE_CONNECTED], 1000000);
        hist_record(&f.recorded[CLIENT_DUE_SECURED], 5000000);
    }
    trial.connect_p99_ns = 42;
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.connect_p99_ns, 42); /* connections stay open */
    settings.what = CLIENT_FIND_CONNECT_RATE;
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.connect_p99_ns, 1000000);
    config.tls = &tls;
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.connect_p99_ns, 5000000);
}

/* A drain lasts until nothing happens any more. */
static void a_query_that_is_due_and_a_late_answer_are_two_events(void **state)
{
    const uint64_t before = client_find_trial_events(&f);

    (void)state;
    tally_add(&queries()->scheduled, 1);
    assert_int_not_equal(client_find_trial_events(&f), before);
    tally_add(&all[0].figures.tally.late, 1);
    assert_int_not_equal(client_find_trial_events(&f), before);
    tally_add(&all[0].figures.tally.queries[TALLY_WARMUP].scheduled, 1);
    assert_int_equal(client_find_trial_events(&f), before + 3);
}

static void connections_due_while_too_many_are_in_progress_are_counted(void **state)
{
    (void)state;
    hist_record_beyond(&f.recorded[CLIENT_OPEN_LAG], 5); /* before the trial */
    client_find_trial_begin(&f);
    hist_record(&f.recorded[CLIENT_OPEN_LAG], 1000);
    hist_record_beyond(&f.recorded[CLIENT_OPEN_LAG], 2);
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.n_not_begun, 2);
}

/* A trial of 1,000 queries, 101 of which cannot begin. */
static void a_trial_that_this_host_cannot_offer_is_decided(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 400);
    hist_record_beyond(&f.recorded[CLIENT_OPEN_LAG], 100);
    assert_false(client_find_trial_is_decided(&f, 1000));
    hist_record_beyond(&f.recorded[CLIENT_OPEN_LAG], 1);
    assert_true(client_find_trial_is_decided(&f, 1000));
}

static void queries_in_flight_decide_nothing(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 400);
    tally_add(&queries()->answered, 390);
    assert_false(client_find_trial_is_decided(&f, 1000));
    tally_add(&queries()->timeout, 1);
    assert_true(client_find_trial_is_decided(&f, 1000)); /* lost=0 */
}

/* The counts of losses are up to date; the times that show to which trial they belong come later.
 */
static void losses_decide_once_it_is_known_whose_they_are(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    client_find_trial_begin(&f);
    tally_add(&queries()->scheduled, 400);
    tally_add(&queries()->unsent, 2);
    assert_false(client_find_trial_is_decided(&f, 1000));
    hist_record_beyond(&f.recorded[CLIENT_RESPONSE], 1);
    hist_record_beyond(&f.recorded[CLIENT_OPEN_LAG], 1);
    assert_false(client_find_trial_is_decided(&f, 1000)); /* this host lost one, ... */
    hist_record_beyond(&f.recorded[CLIENT_RESPONSE], 1);
    assert_true(client_find_trial_is_decided(&f, 1000)); /* and the server the other */
}

/* Adds an interval of 1 s with 100 queries, after the first one of the trial. */
static void add_interval(unsigned n_lost_of_100)
{
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->answered, 100 - n_lost_of_100);
    tally_add(&queries()->timeout, n_lost_of_100);
    intervals.previous_ns += 1000000000;
    client_find_trial_add_interval(&f);
}

static double error_of_intervals(unsigned n, unsigned even, unsigned odd)
{
    client_find_trial_begin(&f);
    for (unsigned i = 0; i < n; i++)
        add_interval(i % 2 == 0 ? even : odd);
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.figures.goals[0].of, (uint64_t)n * 100);
    return trial.figures.goals[0].error;
}

/* Ten shares of 0.01 and 0.03 in turn: their standard deviation is 0.01 * sqrt(10 / 9), and
 * Student's t for 9 degrees of freedom is 1.8331 at 90 % (two-sided). */
static void the_error_of_a_share_is_that_of_its_intervals(void **state)
{
    (void)state;
    assert_true(fabs(error_of_intervals(10, 1, 3) - 1.833113 * 0.01 / 3) < 1e-9);
    assert_true(error_of_intervals(10, 2, 2) < 1e-9);
    assert_true(error_of_intervals(9, 1, 3) == 0); /* too few to tell */
}

/* Two of 100 queries are lost each second, and counted a timeout later. */
static double error_of_steady_losses(unsigned n, unsigned timeout_s, unsigned n_other_losses)
{
    config.timeout_ns = timeout_s * 1000000000ull;
    intervals.previous_ns = 0;
    client_find_trial_begin(&f);
    for (unsigned i = 0; i < n; i++)
        add_interval((i < timeout_s ? 0 : 2) + (i % 2 == 0 ? 0 : n_other_losses));
    tally_add(&queries()->timeout, 2ull * timeout_s);
    client_find_trial_fill(&f, &trial);
    assert_int_equal(trial.figures.goals[0].n, 2 * n + n / 2 * n_other_losses);
    return trial.figures.goals[0].error;
}

static void losses_counted_when_they_time_out_do_not_vary(void **state)
{
    (void)state;
    for (unsigned timeout_s = 0; timeout_s <= 20; timeout_s++)
        assert_true(error_of_steady_losses(30, timeout_s, 0) < 1e-9);
    for (unsigned timeout_s = 0; timeout_s <= 20; timeout_s += 5) /* these do */
        assert_true(error_of_steady_losses(30, timeout_s, 10) > 0.01);
    assert_true(error_of_steady_losses(30, 22, 10) == 0); /* too few batches left to tell */
}

/* Such as the losses counted in the drain. */
static void what_is_in_no_interval_is_a_batch_of_its_own(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    for (unsigned i = 0; i < 9; i++)
        add_interval(2);
    tally_add(&queries()->scheduled, 100);
    tally_add(&queries()->timeout, 100);
    client_find_trial_fill(&f, &trial);
    assert_true(trial.figures.goals[0].error > 0.1);
}

static void an_interval_without_queries_does_not_count(void **state)
{
    (void)state;
    client_find_trial_begin(&f);
    for (unsigned i = 0; i < 10; i++) {
        add_interval(i % 2 == 0 ? 1 : 3);
        client_find_trial_add_interval(&f);
    }
    client_find_trial_fill(&f, &trial);
    assert_true(fabs(trial.figures.goals[0].error - 1.833113 * 0.01 / 3) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_end_without_an_answer_is_a_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(overflows_are_those_of_a_server_on_this_host, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(queries_without_an_end_are_open, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_to_earlier_queries_are_no_losses, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_in_flight_in_a_recovery_are_no_losses, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_window_without_answers_shows_no_recovery, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_window_that_this_host_decided_shows_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(queries_that_never_ended_are_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(outcomes_of_earlier_queries_hide_no_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(what_this_host_may_have_lost_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(
            connections_that_this_host_opened_late_say_nothing_of_the_server, setup, teardown),
        cmocka_unit_test_setup_teardown(a_trial_that_ends_early_is_as_tolerant_of_delays_as_planned,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            ports_that_run_out_while_connections_are_replaced_say_nothing_of_the_server, setup,
            teardown),
        cmocka_unit_test_setup_teardown(connections_without_a_port_are_told_from_others_not_opened,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(handshakes_of_a_trial_are_counted_with_tls, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(only_queries_with_a_connection_each_wait_for_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(times_of_a_trial_are_its_median_and_its_99th_percentile,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_is_opened_when_its_handshake_is_over, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_query_that_is_due_and_a_late_answer_are_two_events, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(connections_due_while_too_many_are_in_progress_are_counted,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_trial_that_this_host_cannot_offer_is_decided, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(queries_in_flight_decide_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(losses_decide_once_it_is_known_whose_they_are, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_error_of_a_share_is_that_of_its_intervals, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(losses_counted_when_they_time_out_do_not_vary, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_in_no_interval_is_a_batch_of_its_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_interval_without_queries_does_not_count, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
