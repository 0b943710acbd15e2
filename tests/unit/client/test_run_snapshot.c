/* SPDX-License-Identifier: MIT
 * test_run_snapshot: the result of a run under way. */
#include "run_result_steps.h"

#include <stdio.h>
#include <stdlib.h>

static struct client_result now;

/* Listeners read to the end of their connections before. */
static void an_interrupted_run_is_over_before_its_connections_are_closed(void **state)
{
    (void)state;
    run(clock_now_ns() - 1000, 0);
    client_run_snapshot(&r, &now);
    assert_int_equal(now.state, CLIENT_RUN_RUNNING);
    assert_true(now.scheduled_ns >= 1000);
    assert_true(now.rate_now_qps == 100);
    result.interrupted = true;
    r.stopped_ns = r.begin_ns + 300;
    client_run_snapshot(&r, &now);
    assert_int_equal(now.state, CLIENT_RUN_DRAINING);
    assert_int_equal(now.scheduled_ns, 300);
    assert_int_equal(now.load_ns, 300);
    assert_true(now.rate_now_qps == 0);
}

static void counts_are_those_of_all_workers_so_far(void **state)
{
    struct client_class_figures *class = calloc(1, sizeof *class);

    (void)state;
    assert_non_null(class);
    result.connections_at_begin = 6;
    config.own_fd_tables = true;
    all[0].figures.classes = class;
    all[0].figures.n_classes = 1;
    tally_add(&class->tally.proven, 2);
    for (int i = 0; i < N_WORKERS; i++) {
        tally_add(&all[i].figures.tally.bytes_sent, 7);
        tally_add(&all[i].figures.n_live, 3);
        tally_add(&all[i].figures.tally.queries[TALLY_MEASURED].sent, 5);
        tally_add(&all[i].figures.tally.queries[TALLY_MEASURED].answered, 3);
        tally_add(&all[i].figures.tally.queries[TALLY_WARMUP].sent, 9);
    }
    client_run_snapshot(&r, &now);
    assert_int_equal(now.connections_at_begin, 6);
    assert_true(now.own_fd_tables);
    assert_int_equal(tally_get(&now.tally.bytes_sent), 14);
    assert_int_equal(tally_get(&now.class_tallies[0].proven), 2);
    assert_int_equal(now.connections_live, 6);
    assert_int_equal(now.in_flight, 4);
    assert_true(now.host_after.rss_bytes > 0);
    all[0].figures.classes = NULL;
    all[0].figures.n_classes = 0;
    free(class);
}

/* Answers that were counted after the queries had been read. */
static void counts_of_queries_fit_together(void **state)
{
    struct client_class_figures *class = calloc(1, sizeof *class);

    (void)state;
    assert_non_null(class);
    all[0].figures.classes = class;
    all[0].figures.n_classes = 1;
    for (int i = 0; i < TALLY_N_CLASSES; i++) {
        tally_add(&all[0].figures.tally.queries[i].answered, 3);
        tally_add(&class->tally.queries[i].answered, 2);
    }
    client_run_snapshot(&r, &now);
    for (int i = 0; i < TALLY_N_CLASSES; i++) {
        assert_null(tally_check_queries(&now.tally.queries[i]));
        assert_null(tally_check_queries(&now.class_tallies[0].queries[i]));
    }
    assert_int_equal(now.in_flight, 0);
    all[0].figures.classes = NULL;
    all[0].figures.n_classes = 0;
    free(class);
}

static void the_state_is_that_of_the_load(void **state)
{
    static const struct {
        bool started, closing, paused;
        enum client_state expected;
    } cases[] = {
        {false, false, false, CLIENT_RUN_CONNECTING}, {false, false, true, CLIENT_RUN_CONNECTING},
        {true, false, false, CLIENT_RUN_RUNNING},     {true, false, true, CLIENT_RUN_PAUSED},
        {true, true, false, CLIENT_RUN_DRAINING},     {true, true, true, CLIENT_RUN_DRAINING},
    };

    (void)state;
    run(clock_now_ns(), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r.started = cases[i].started;
        r.closing = cases[i].closing;
        r.steer.paused = cases[i].paused;
        client_run_snapshot(&r, &now);
        if (now.state != cases[i].expected)
            fail_msg("case %zu: %d", i, now.state);
    }
}

/* The run has been measured for 40 s or longer, and was paused for all but 10 s of that. */
static void times_are_of_the_part_that_has_passed(void **state)
{
    (void)state;
    run(clock_now_ns() - 100 * S, 60 * S);
    r.steer.paused = true;
    r.steer.paused_since_ns = r.measure_ns + 10 * S;
    client_run_snapshot(&r, &now);
    assert_true(now.scheduled_ns >= 40 * S);
    assert_int_equal(now.load_ns, now.scheduled_ns + 60 * S);
    assert_int_equal(now.sent_ns, now.scheduled_ns);
    assert_int_equal(now.unblocked_ns, now.scheduled_ns);
    assert_int_equal(now.paused_ns, now.scheduled_ns - 10 * S);
    assert_true(now.requested_qps == 100);
}

static void times_of_a_load_that_has_not_begun_are_0(void **state)
{
    (void)state;
    run(clock_now_ns() + 1000 * S, 0);
    client_run_snapshot(&r, &now);
    assert_int_equal(now.load_ns, 0);
    assert_int_equal(now.scheduled_ns, 0);
    assert_true(now.requested_qps == 99); /* as planned */
    run(clock_now_ns() - 100 * S, 0);
    r.started = false;
    client_run_snapshot(&r, &now);
    assert_int_equal(now.load_ns, 0);
    assert_int_equal(now.scheduled_ns, 0);
    assert_true(now.rate_now_qps == 0);
    assert_true(now.requested_qps == 99);
}

/* Once unknown they stay so: what was counted in between is missing. */
static void counters_of_an_interface_that_was_replaced_are_unknown(void **state)
{
    static const struct {
        const char *interface;
        uint64_t rx_before;
        bool known;
    } cases[] = {
        {"lo", 0, true},
        {"lo", UINT64_MAX, false}, /* it was removed and added again */
        {"", 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(result.interface, sizeof result.interface, "%s", cases[i].interface);
        result.net_loaded = (struct netdev_counters){.rx_packets = cases[i].rx_before};
        result.has_interface = true;
        client_run_snapshot(&r, &now);
        if (now.has_interface != cases[i].known)
            fail_msg("case %zu", i);
        result.net_loaded.rx_packets = 0;
        client_run_snapshot(&r, &now);
        assert_int_equal(now.has_interface, cases[i].known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_interrupted_run_is_over_before_its_connections_are_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_those_of_all_workers_so_far, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_of_queries_fit_together, setup, teardown),
        cmocka_unit_test_setup_teardown(the_state_is_that_of_the_load, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_of_the_part_that_has_passed, setup, teardown),
        cmocka_unit_test_setup_teardown(times_of_a_load_that_has_not_begun_are_0, setup, teardown),
        cmocka_unit_test_setup_teardown(counters_of_an_interface_that_was_replaced_are_unknown,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
