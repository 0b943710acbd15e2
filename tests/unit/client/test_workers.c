/* SPDX-License-Identifier: MIT
 * test_workers: what the main thread reads from all workers together. */
#include "workers_steps.h"

#include "client/result.h"
#include "print_steps.h"

#include <stdlib.h>

static struct client_result result;

static int setup(void **state)
{
    (void)state;
    memset(&result, 0, sizeof result);
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        if (hist_init(&result.metrics[m]) != 0)
            return -1;
    return losses_init(&result.losses) != 0 ? -1 : start_workers();
}

static int teardown(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&result.metrics[m]);
    losses_free(&result.losses);
    stop_workers();
    return 0;
}

static void the_stage_is_that_of_the_slowest_worker(void **state)
{
    (void)state;
    assert_int_equal(client_workers_stage(&workers), CLIENT_CONNECTING);
    client_stage_enter(&all[0].stages, CLIENT_DRAINED);
    assert_int_equal(client_workers_stage(&workers), CLIENT_CONNECTING);
    client_stage_enter(&all[1].stages, CLIENT_LOADING);
    assert_int_equal(client_workers_stage(&workers), CLIENT_LOADING);
    client_stage_enter(&all[1].stages, CLIENT_DRAINED);
    assert_int_equal(client_workers_stage(&workers), CLIENT_DRAINED);
}

static void arrivals_go_to_workers_with_a_usable_connection(void **state)
{
    (void)state;
    tally_add(&all[1].figures.n_live, 1);
    client_workers_deal_arrivals(&workers, false);
    assert_false(takes_arrivals[0]);
    assert_true(takes_arrivals[1]);
    assert_ptr_equal(all[0].takes_arrivals, takes_arrivals);
    assert_ptr_equal(all[1].takes_arrivals, takes_arrivals);
    client_workers_deal_arrivals(&workers, true);
    assert_true(takes_arrivals[0]);
}

static void the_first_window_has_settled_when_each_worker_says_so(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.connect_window = 2;
        tally_add(&all[i].figures.n_wanted, i == 0 ? 3 : 1); /* the window, or all that is wanted */
    }
    assert_false(client_workers_have_settled(&workers));
    tally_add(&all[0].figures.n_settled, 2);
    assert_false(client_workers_have_settled(&workers));
    tally_add(&all[1].figures.n_settled, 1);
    assert_true(client_workers_have_settled(&workers));
}

static void a_worker_that_opens_no_more_has_settled(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.connect_window = 2;
        tally_add(&all[i].figures.n_wanted, 2);
    }
    tally_add(&all[0].figures.n_settled, 2);
    assert_false(client_workers_have_settled(&workers));
    client_stage_enter(&all[1].stages, CLIENT_CONNECTED); /* memory was short before its first */
    assert_true(client_workers_have_settled(&workers));
}

static void usable_connections_and_failures_of_this_host_let_the_run_go_on(void **state)
{
    static const struct {
        struct outcome outcome;
        bool goes_on;
    } cases[] = {
        {{PHASE_CONNECT, REASON_TIMEOUT}, false},   {{PHASE_CONNECT, REASON_REFUSED}, false},
        {{PHASE_RECEIVE, REASON_HALF_OPEN}, false}, {{PHASE_BIND, REASON_PORTS}, true},
        {{PHASE_SOCKET, REASON_FDS}, true},         {{PHASE_SOCKET, REASON_MEMORY}, true},
        {{PHASE_CONNECT, REASON_ROUTE}, true},      {{PHASE_CONNECT, REASON_PERMISSION}, true},
        {{PHASE_BIND, REASON_UNREACHABLE}, true},   {{PHASE_CONNECT, REASON_UNREACHABLE}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tally_count *count =
            &all[1]
                 .figures.tally.connections.ended[cases[i].outcome.phase][cases[i].outcome.reason];

        tally_add(count, 1);
        if (client_workers_may_go_on(&workers) != cases[i].goes_on)
            fail_msg("case %zu", i);
        tally_sub(count, 1);
    }
    assert_false(client_workers_may_go_on(&workers));
    tally_add(&all[1].figures.n_ever_usable, 1);
    assert_true(client_workers_may_go_on(&workers));
}

static void gauges_and_counts_are_summed(void **state)
{
    (void)state;
    for (int i = 0; i < N_WORKERS; i++) {
        const uint64_t n = i == 0 ? 1 : 100;
        struct client_figures *f = &all[i].figures;

        tally_add(&f->n_requested, 5 * n);
        tally_add(&f->n_wanted, 4 * n);
        tally_add(&f->n_live, 3 * n);
        tally_add(&f->n_half_open, 2 * n);
        tally_add(&f->n_unresponsive, n);
        tally_add(&f->tally.bytes_sent, 7 * n);
    }
    client_workers_connections(&workers, &result);
    assert_int_equal(result.connections_requested, 505);
    assert_int_equal(result.connections_wanted, 404);
    assert_int_equal(result.connections_live, 303);
    assert_int_equal(result.connections_half_open, 202);
    assert_int_equal(result.connections_unresponsive, 101);
    client_workers_tally(&workers, &result.tally);
    client_workers_tally(&workers, &result.tally);
    assert_int_equal(tally_get(&result.tally.bytes_sent), 2 * 707);
}

static void the_last_connection_is_in_the_last_slot_that_was_requested(void **state)
{
    static const struct client_config on_demand = {.on_demand = true};

    (void)state;
    all[1].first_conn = CONNS_EACH;
    client_workers_connections(&workers, &result);
    assert_int_equal(result.last_connection, 0);
    tally_add(&all[0].figures.n_requested, 2);
    client_workers_connections(&workers, &result);
    assert_int_equal(result.last_connection, 1);
    tally_add(&all[1].figures.n_requested, 2);
    client_workers_connections(&workers, &result);
    assert_int_equal(result.last_connection, CONNS_EACH + 1);
    tally_add(&all[1].figures.n_requested, 9); /* others were closed by request */
    client_workers_connections(&workers, &result);
    assert_int_equal(result.last_connection, 2 * CONNS_EACH - 1);
    memset(&all[1].figures.n_requested, 0, sizeof all[1].figures.n_requested);
    all[0].config = all[1].config = &on_demand;
    client_workers_connections(&workers, &result);
    assert_int_equal(result.last_connection, 2 * CONNS_EACH - 1);
}

static void
a_run_is_as_long_as_its_first_and_last_connection_and_as_late_as_its_latest_worker(void **state)
{
    uint64_t last_sent_ns, last_unblocked_ns;

    (void)state;
    all[0].figures.first_connect_ns = 2000;
    all[0].figures.last_established_ns = 9000;
    all[1].figures.first_connect_ns = 1000;
    all[1].figures.last_established_ns = 8000;
    all[1].figures.first_lag_ns = 50; /* sent nothing, so this does not count */
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.connect_elapsed_ns, 8000);
    assert_true(result.start.late_ns == UINT64_MAX);
    assert_int_equal(last_sent_ns, 0);
    all[0].figures.last_sent_ns = 77;
    all[0].figures.last_unblocked_ns = 55;
    all[0].figures.first_lag_ns = 5;
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.start.late_ns, 5);
    assert_int_equal(last_sent_ns, 77);
    assert_int_equal(last_unblocked_ns, 55);
    all[1].figures.last_sent_ns = 66;
    all[0].figures.longest_hold_ns = 3;
    all[1].figures.longest_hold_ns = 2;
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.start.late_ns, 50);
    assert_int_equal(last_sent_ns, 77);
    assert_int_equal(result.longest_hold_ns, 3);
}

static void connection_metrics_are_merged(void **state)
{
    uint64_t last_sent_ns, last_unblocked_ns;

    (void)state;
    assert_int_equal(hist_init(&all[1].figures.gaps), 0); /* as with kept slots */
    hist_record(&all[0].figures.connect_times, 10);
    hist_record(&all[1].figures.connect_times, 20);
    hist_record(&all[1].figures.gaps, 30);
    hist_record(&all[0].figures.handshake_times, 15);
    hist_record(&all[1].figures.min_rtts, 5);
    losses_add(&all[0].figures.losses, 7000, 100);
    losses_add(&all[1].figures.losses, 9000, 200);
    all[1].figures.tls_version = "TLSv1.3";
    all[1].figures.tls_cipher = "TLS_AES_128_GCM_SHA256";
    all[0].figures.least_push_ns = 40;
    all[1].figures.least_push_ns = -50;
    all[0].worker.own_fd_table = true;
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.metrics[CLIENT_CONNECT].count, 2);
    assert_int_equal(result.metrics[CLIENT_CONNECT].max_ns, 20);
    assert_int_equal(result.metrics[CLIENT_GAP].count, 1);
    assert_int_equal(result.metrics[CLIENT_HANDSHAKE].max_ns, 15);
    assert_int_equal(result.metrics[CLIENT_MIN_RTT].max_ns, 5);
    assert_int_equal(result.metrics[CLIENT_RECOVERY].count, 0);
    assert_int_equal(result.losses.idle_us.count, 2);
    assert_int_equal(result.losses.first_ns, 7000);
    assert_int_equal(result.losses.last_ns, 9000);
    assert_string_equal(result.tls_version, "TLSv1.3");
    assert_string_equal(result.tls_cipher, "TLS_AES_128_GCM_SHA256");
    assert_int_equal(result.push_least_ns, -50);
    assert_false(result.own_fd_tables); /* one worker has none */
    all[1].worker.own_fd_table = true;
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_true(result.own_fd_tables);
}

/* What only some runs record. */
static void metrics_of_some_runs_are_merged(void **state)
{
    uint64_t last_sent_ns, last_unblocked_ns;

    (void)state;
    assert_int_equal(hist_init(&all[0].figures.recoveries), 0);
    hist_record(&all[0].figures.recoveries, 40);
    assert_int_equal(timeout_counts_init(&result.timeouts), 0);
    for (int i = 0; i < N_WORKERS; i++) {
        assert_int_equal(timeout_counts_init(&all[i].figures.timeouts), 0);
        timeout_counts_add(&all[i].figures.timeouts, 300);
    }
    all[0].figures.least_push_ns = all[1].figures.least_push_ns = INT64_MAX;
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.metrics[CLIENT_RECOVERY].max_ns, 40);
    assert_int_equal(timeout_counts_summary(&result.timeouts).n, 2);
    assert_true(result.push_least_ns == INT64_MAX); /* no message */
    timeout_counts_free(&result.timeouts);
}

static void counts_are_collected_at_the_end(void **state)
{
    struct client_class_figures *classes = calloc(N_WORKERS, sizeof *classes);
    uint64_t last_sent_ns, last_unblocked_ns;

    (void)state;
    assert_non_null(classes);
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.classes = &classes[i];
        all[i].figures.n_classes = 1;
        tally_add(&classes[i].tally.proven, 2);
        tally_add(&classes[i].n_live, 3);
        tally_add(&all[i].figures.tally.bytes_sent, 7);
        tally_add(&all[i].figures.n_requested, 5);
    }
    client_workers_connections(&workers, &result);
    assert_int_equal(result.class_live[0], 6);
    assert_int_equal(result.class_live[1], 0);
    tally_add(&all[0].figures.n_requested, 1); /* at the very end */
    client_workers_collect(&workers, &result, &last_sent_ns, &last_unblocked_ns);
    assert_int_equal(result.connections_requested, 11);
    assert_int_equal(tally_get(&result.tally.bytes_sent), 14);
    assert_int_equal(tally_get(&result.class_tallies[0].proven), 4);
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].figures.classes = NULL;
        all[i].figures.n_classes = 0;
    }
    free(classes);
}

static void measuring_ended_when_the_last_listener_stopped(void **state)
{
    (void)state;
    assert_int_equal(client_workers_stopped_ns(&workers), 0);
    all[0].figures.stopped_ns = 9;
    all[1].figures.stopped_ns = 8;
    assert_int_equal(client_workers_stopped_ns(&workers), 9);
}

static unsigned count_rows(bool begun_only)
{
    unsigned n = 0;
    char *text;

    client_workers_print_connections(&workers, print_open(), begun_only, 0);
    text = print_close();
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        n++;
    free(text);
    return n;
}

static void each_connection_has_a_row_or_only_those_that_were_started(void **state)
{
    (void)state;
    all[1].figures.records[2].connections = 1;
    assert_int_equal(count_rows(false), 1 + N_WORKERS * CONNS_EACH);
    assert_int_equal(count_rows(true), 1 + 1);
}

/* Its number goes on from one worker to the next, its times begin with the run. */
static void a_row_is_of_its_connection(void **state)
{
    static const struct client_config over_udp = {.socket = {.datagrams = true}};
    static const char *const begins[] = {"\n5,,,,0,0,0,0,0,0,0,,", "\n5,,,,0,0,0,0,0,,,,"};
    char *text;

    (void)state;
    all[1].first_conn = CONNS_EACH;
    all[1].figures.records[2].connections = 1;
    all[1].figures.records[2].established_ns = 3000000000;
    for (int udp = 0; udp < 2; udp++) {
        if (udp)
            all[1].config = &over_udp;
        client_workers_print_connections(&workers, print_open(), true, 1000000000);
        text = print_close();
        if (strstr(text, begins[udp]) == NULL || strstr(text, ",1,2.000000,") == NULL)
            fail_msg("no '%s' in: %s", begins[udp] + 1, text);
        free(text);
    }
}

/* Names every reason, so that it does not compile without a new one. */
static bool is_of_this_host(enum outcome_phase phase, enum outcome_reason reason)
{
    switch (reason) {
    case REASON_PORTS:
    case REASON_FDS:
    case REASON_MEMORY:
    case REASON_WATCHES:
    case REASON_PERMISSION:
    case REASON_ROUTE:
    case REASON_SELF:
        return true;
    case REASON_UNREACHABLE:
        return phase == PHASE_BIND; /* the source address is not local */
    case REASON_FINISHED:
    case REASON_CANCELLED:
    case REASON_IDLE:
    case REASON_KEEPALIVE:
    case REASON_REFUSED:
    case REASON_TIMEOUT:
    case REASON_RESET:
    case REASON_PEER:
    case REASON_HALF_OPEN:
    case REASON_MALFORMED:
    case REASON_CERT_EXPIRED:
    case REASON_CERT_NAME:
    case REASON_CERT_UNTRUSTED:
    case REASON_NO_AGREEMENT:
    case REASON_ALERT:
    case REASON_OTHER:
    case OUTCOME_N_REASONS:
        break;
    }
    return false;
}

static void failures_of_this_host_are_told_from_those_of_the_server(void **state)
{
    struct tally t = {0};
    uint64_t n = 0;

    (void)state;
    for (int phase = 0; phase < OUTCOME_N_PHASES; phase++)
        for (int reason = 0; reason < OUTCOME_N_REASONS; reason++) {
            tally_add(&t.connections.ended[phase][reason], 1);
            n += is_of_this_host((enum outcome_phase)phase, (enum outcome_reason)reason);
            assert_int_equal(client_workers_own_failures(&t), n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_stage_is_that_of_the_slowest_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(arrivals_go_to_workers_with_a_usable_connection, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_first_window_has_settled_when_each_worker_says_so,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_opens_no_more_has_settled, setup, teardown),
        cmocka_unit_test_setup_teardown(
            usable_connections_and_failures_of_this_host_let_the_run_go_on, setup, teardown),
        cmocka_unit_test(failures_of_this_host_are_told_from_those_of_the_server),
        cmocka_unit_test_setup_teardown(gauges_and_counts_are_summed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_connection_is_in_the_last_slot_that_was_requested,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_run_is_as_long_as_its_first_and_last_connection_and_as_late_as_its_latest_worker,
            setup, teardown),
        cmocka_unit_test_setup_teardown(connection_metrics_are_merged, setup, teardown),
        cmocka_unit_test_setup_teardown(metrics_of_some_runs_are_merged, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_collected_at_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(measuring_ended_when_the_last_listener_stopped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_row_is_of_its_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(each_connection_has_a_row_or_only_those_that_were_started,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
