/* SPDX-License-Identifier: MIT
 * test_query: a query that gets no answer ends in exactly one outcome. */
#include "client/worker/query.h"

#include "client/worker/udp.h"
#include "worker_steps.h"

static struct client_due due;
static struct client_queries queries;

static int start(void **state)
{
    (void)state;
    start_worker(0, 1, 1);
    due = (struct client_due){.transport = &transport, .span = &span};
    queries = (struct client_queries){
        .transport = &transport, .figures = &figures, .span = &span, .due = &due};
    return inflight_init(&queries.inflight, 1, false);
}

static int stop(void **state)
{
    inflight_free(&queries.inflight);
    return stop_worker(state);
}

static uint32_t queue(enum tally_class class, uint64_t intended_ns)
{
    return inflight_queue(&queries.inflight, &conns[0].queries, 0, intended_ns, (uint8_t) class);
}

static uint32_t send_query(enum tally_class class, uint64_t intended_ns, uint64_t sent_ns)
{
    const uint32_t slot = queue(class, intended_ns);
    bool recycled;

    assert_int_equal(inflight_assign_id(&queries.inflight, &conns[0].queries, &recycled), 0);
    inflight_mark_sent(&queries.inflight, &conns[0].queries, sent_ns);
    inflight_mark_written(&queries.inflight, &conns[0].queries);
    client_query_sent(&queries, inflight_at(&queries.inflight, slot), sent_ns);
    return slot;
}

static const struct tally_queries *counts(enum tally_class class)
{
    return &figures.tally.queries[class];
}

static void only_measured_queries_have_a_send_lag(void **state)
{
    (void)state;
    send_query(TALLY_WARMUP, START, START + 7);
    assert_int_equal(tally_get(&counts(TALLY_WARMUP)->sent), 1);
    assert_int_equal(tally_get(&figures.in_flight), 0);
    assert_int_equal(figures.metrics[CLIENT_SEND_LAG].count, 0);
    send_query(TALLY_MEASURED, START + 10, START + 25);
    send_query(TALLY_MEASURED, START + 20, START + 25);
    assert_int_equal(tally_get(&figures.in_flight), 2);
    assert_int_equal(figures.metrics[CLIENT_SEND_LAG].count, 2);
    assert_int_equal(figures.metrics[CLIENT_SEND_LAG].max_ns, 15);
    assert_int_equal(figures.first_lag_ns, 15);
    assert_int_equal(figures.last_sent_ns, START + 25);
}

/* The server kept the ids until after the load. */
static void query_that_waited_for_an_id_is_not_sent_late_by_this_host(void **state)
{
    const uint32_t slot = queue(TALLY_MEASURED, START);

    (void)state;
    inflight_at(&queries.inflight, slot)->tag |= CLIENT_QUERY_BLOCKED;
    client_query_sent(&queries, inflight_at(&queries.inflight, slot), START + 80);
    assert_int_equal(figures.last_sent_ns, START + 80);
    assert_int_equal(figures.last_unblocked_ns, 0);
    send_query(TALLY_MEASURED, START, START + 90);
    assert_int_equal(figures.last_unblocked_ns, START + 90);
}

static void a_query_that_times_out_is_beyond_every_response(void **state)
{
    (void)state;
    client_query_expire(&queries, send_query(TALLY_MEASURED, START, START), START + 100 * MS);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->timeout), 1);
    assert_int_equal(tally_get(&figures.in_flight), 0);
    assert_int_equal(figures.metrics[CLIENT_RESPONSE].beyond, 1);
    assert_int_equal(figures.metrics[CLIENT_SERVICE].beyond, 1);
    assert_int_equal(figures.metrics[CLIENT_NET].beyond, 0); /* answers are not timestamped */
    assert_int_equal(conns[0].state, CLIENT_CONN_LIVE);
    assert_int_equal(tally_get(&figures.tally.connections.with_timeouts), 1);
}

static void timeouts_in_a_row_make_a_connection_unresponsive(void **state)
{
    (void)state;
    for (int i = 1; i <= CLIENT_CONN_UNRESPONSIVE + 1; i++) {
        client_query_expire(&queries, send_query(TALLY_WARMUP, START, START), START + 100 * MS);
        assert_int_equal(tally_get(&figures.n_unresponsive), i >= CLIENT_CONN_UNRESPONSIVE);
    }
    assert_int_equal(tally_get(&figures.tally.connections.with_timeouts), 1);
    assert_int_equal(figures.metrics[CLIENT_RESPONSE].beyond, 0);
}

/* At the end of a run they time out one after the other, when all others have been answered. */
static void queries_lost_among_answered_ones_make_no_connection_unresponsive(void **state)
{
    uint64_t heard_ns[] = {START + 50 * MS};
    uint32_t dropped[] = {0};
    struct client_udp udp = {.heard_ns = heard_ns, .dropped = dropped};

    (void)state;
    transport.udp = &udp;
    for (int i = 0; i <= CLIENT_CONN_UNRESPONSIVE; i++)
        client_query_expire(&queries, send_query(TALLY_WARMUP, START, START), START + 100 * MS);
    assert_int_equal(tally_get(&figures.n_unresponsive), 0);
    for (int i = 0; i < CLIENT_CONN_UNRESPONSIVE; i++)
        client_query_expire(&queries, send_query(TALLY_WARMUP, START, START + 51 * MS),
                            START + 151 * MS);
    assert_int_equal(tally_get(&figures.n_unresponsive), 1);
    transport.udp = NULL;
}

static void queries_that_found_no_id_within_the_timeout_are_never_sent(void **state)
{
    (void)state;
    queue(TALLY_WARMUP, START);
    queue(TALLY_MEASURED, START + 1);
    queue(TALLY_MEASURED, START + 2);
    span.now_ns = START + 100 * MS + 1;
    client_query_give_up_blocked(&queries, &conns[0]);
    assert_int_equal(tally_get(&counts(TALLY_WARMUP)->unsent), 1);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 1);
    assert_int_equal(figures.metrics[CLIENT_RESPONSE].beyond, 1);
    assert_int_equal(figures.metrics[CLIENT_SERVICE].beyond, 0);
    assert_int_equal(queries.inflight.n_queued, 1);
}

static void queries_of_a_lost_connection(struct outcome outcome, uint64_t n_errors,
                                         uint64_t n_cancelled)
{
    send_query(TALLY_PROBE, START, START);
    send_query(TALLY_MEASURED, START, START);
    send_query(TALLY_MEASURED, START, START);
    queue(TALLY_MEASURED, START);
    client_query_lost(&queries, &conns[0], outcome);
    assert_int_equal(tally_get(&counts(TALLY_PROBE)->error), n_errors > 0);
    assert_int_equal(tally_get(&counts(TALLY_PROBE)->cancelled), n_cancelled > 0);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->error), n_errors);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->cancelled), n_cancelled);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 1);
    assert_int_equal(tally_get(&figures.tally.errors[outcome.phase][outcome.reason]), n_errors);
    assert_int_equal(tally_get(&figures.in_flight), 0);
    assert_int_equal(figures.metrics[CLIENT_RESPONSE].beyond, 3);
    assert_int_equal(figures.metrics[CLIENT_SERVICE].beyond, 2);
    assert_int_equal(conns[0].queries.head, INFLIGHT_NONE);
    assert_int_equal(queries.inflight.n_sent + queries.inflight.n_queued, 0);
}

static void a_reset_fails_queries_and_counts_why(void **state)
{
    (void)state;
    queries_of_a_lost_connection((struct outcome){PHASE_RECEIVE, REASON_RESET}, 2, 0);
}

static void the_end_of_the_run_cancels_queries(void **state)
{
    (void)state;
    queries_of_a_lost_connection((struct outcome){PHASE_RUN, REASON_CANCELLED}, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_measured_queries_have_a_send_lag, start, stop),
        cmocka_unit_test_setup_teardown(query_that_waited_for_an_id_is_not_sent_late_by_this_host,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_query_that_times_out_is_beyond_every_response, start,
                                        stop),
        cmocka_unit_test_setup_teardown(timeouts_in_a_row_make_a_connection_unresponsive, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            queries_lost_among_answered_ones_make_no_connection_unresponsive, start, stop),
        cmocka_unit_test_setup_teardown(queries_that_found_no_id_within_the_timeout_are_never_sent,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_reset_fails_queries_and_counts_why, start, stop),
        cmocka_unit_test_setup_teardown(the_end_of_the_run_cancels_queries, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
