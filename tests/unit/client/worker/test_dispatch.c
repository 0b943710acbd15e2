/* SPDX-License-Identifier: MIT
 * test_dispatch: which connections get the due queries, and how these are counted. */
#include "client/worker/dispatch.h"

#include "dispatch_steps.h"

#include <stdlib.h>

static const bool takes[] = {true};
static struct client_turnover turnover;

static void start(uint32_t n, double rate_qps)
{
    start_worker(0, 1, n);
    start_dispatch(rate_qps, takes);
}

static const struct tally_queries *counts(enum tally_class class)
{
    return &figures.tally.queries[class];
}

static unsigned n_queued_on(uint32_t i)
{
    unsigned n = 0;

    for (uint32_t slot = conns[i].queries.head; slot != INFLIGHT_NONE;
         slot = inflight_at(&queries.inflight, slot)->conn_next)
        n++;
    return n;
}

static void due_queries_are_queued_with_their_intended_time(void **state)
{
    const struct inflight_query *second;

    (void)state;
    start(1, 10);
    client_dispatch_due(&dispatch, START + 199 * MS);
    assert_int_equal(n_queued_on(0), 2);
    second = inflight_at(&queries.inflight, conns[0].queries.tail);
    assert_int_equal(second->intended_ns, START + 100 * MS);
    assert_int_equal(second->gap_us, 100000);
    assert_int_equal(send_queue.n, 1); /* the connection, once */
    client_dispatch_due(&dispatch, START + 199 * MS);
    assert_int_equal(n_queued_on(0), 2);
}

/* Queries that are queued early, to be sent when they are due, are not late. */
static void a_query_knows_how_late_it_was_queued(void **state)
{
    (void)state;
    start(1, 10);
    span.now_ns = START + 30 * MS;
    client_dispatch_due(&dispatch, START);
    assert_int_equal(inflight_at(&queries.inflight, conns[0].queries.tail)->late_us, 30000);
    span.now_ns = START + 90 * MS;
    client_dispatch_due(&dispatch, START + 100 * MS);
    assert_int_equal(n_queued_on(0), 2);
    assert_int_equal(inflight_at(&queries.inflight, conns[0].queries.tail)->late_us, 0);
    span.now_ns = START + 5000 * 1000 * MS;
    client_dispatch_due(&dispatch, START + 200 * MS);
    assert_int_equal(n_queued_on(0), 3);
    assert_int_equal(inflight_at(&queries.inflight, conns[0].queries.tail)->late_us, UINT32_MAX);
}

/* The connection that was queued has ended, and another one is opening in its slot. */
static void nothing_is_sent_on_a_connection_that_is_opening(void **state)
{
    static const enum client_conn_state opening[] = {CLIENT_CONN_CONNECTING, CLIENT_CONN_SECURING};

    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++) {
        start(1, 10);
        client_dispatch_due(&dispatch, START);
        assert_int_equal(send_queue.n, 1);
        conns[0].state = (uint8_t)opening[i];
        client_send_all(&send_queue);
        assert_int_equal(send_queue.n, 0);
        assert_int_equal(conns[0].state, opening[i]);
        assert_int_equal(n_queued_on(0), 1);
        stop_dispatch(state);
    }
}

static void warm_up_and_measurement_are_counted_apart(void **state)
{
    (void)state;
    start(4, 10);
    span.measure_ns = START + 200 * MS;
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(tally_get(&counts(TALLY_WARMUP)->scheduled), 2);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->scheduled), 8);
    assert_int_equal(queries.inflight.n_queued, 10);
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(n_queued_on(i), 2, 3);
}

static void queries_of_an_unusable_connection_move_to_others(void **state)
{
    (void)state;
    start(4, 40);
    end_conn(1);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->scheduled), 40);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->rerouted), 10);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 0);
    assert_int_equal(n_queued_on(1), 0);
    assert_int_equal(n_queued_on(0) + n_queued_on(2) + n_queued_on(3), 40);
}

/* A worker with more connections than the steps have, all live; the caller frees them. */
static struct client_conn *start_many(uint32_t n)
{
    struct client_conn *many = calloc(n, sizeof *many);

    assert_non_null(many);
    start_worker(0, 1, 1);
    config.n_connections = config.n_at_begin = transport.n_conns = n;
    transport.conns = many;
    for (uint32_t i = 0; i < n; i++) {
        many[i].transport = &transport;
        many[i].state = CLIENT_CONN_LIVE;
        inflight_list_init(&many[i].queries);
    }
    return many;
}

/* Without looking through the slots for each query. */
static void queries_move_to_the_only_usable_connection_of_many(void **state)
{
    enum { N_MANY = 5000, ONLY = 4321 };
    struct client_conn *many = start_many(N_MANY);

    for (uint32_t i = 0; i < N_MANY; i++)
        many[i].state = (uint8_t)(i == ONLY ? CLIENT_CONN_LIVE : CLIENT_CONN_ENDED);
    start_dispatch(40, takes);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->rerouted), 40);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 0);
    assert_int_equal(queries.inflight.n_queued, 40);
    assert_int_equal(inflight_at(&queries.inflight, many[ONLY].queries.head)->intended_ns, START);
    assert_true(client_usable_are_kept(&usable));
    assert_int_equal(usable.lists[0].n, 1);
    stop_dispatch(state);
    free(many);
}

static void without_a_usable_connection_queries_are_unsent_and_unanswered(void **state)
{
    (void)state;
    start(2, 10);
    span.measure_ns = START + 200 * MS;
    end_conn(0);
    end_conn(1);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(tally_get(&counts(TALLY_WARMUP)->unsent), 2);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 8);
    assert_int_equal(figures.metrics[CLIENT_RESPONSE].beyond, 8);
    assert_int_equal(figures.metrics[CLIENT_SERVICE].beyond, 0); /* never sent */
    assert_int_equal(queries.inflight.n_queued, 0);
    assert_int_equal(send_queue.n, 0);
}

static void a_backlog_is_queued_over_several_turns(void **state)
{
    (void)state;
    start(1, 10000);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(queries.inflight.n_queued, 4096);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(queries.inflight.n_queued, 8192);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(queries.inflight.n_queued, 9991);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->scheduled), 9991);
}

/* With 100 connections: 64 of each, or as many as become due in a second, but at most 512. */
static void at_higher_rates_a_turn_queues_more(void **state)
{
    static const struct {
        double rate_qps;
        uint32_t n_queued;
    } cases[] = {{5000, 6400}, {6500, 6500}, {51199, 51199}, {80000, 51200}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client_conn *many = start_many(100);
        struct schedule faster;

        start_dispatch(1, takes);
        schedule_constant(&faster, 2000 * MS, cases[i].rate_qps);
        span.end_ns = START + 2000 * MS;
        client_dispatch_replace(&dispatch, &faster);
        client_dispatch_due(&dispatch, START + 1999 * MS);
        assert_int_equal(queries.inflight.n_queued, cases[i].n_queued);
        stop_dispatch(state);
        free(many);
    }
}

/* Counts the queries whose slot follows that of the previous one of their connection. */
static uint32_t n_neighbours(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < transport.n_conns; i++)
        for (uint32_t slot = conns[i].queries.head; slot != conns[i].queries.tail;) {
            const struct inflight_query *q = inflight_at(&queries.inflight, slot);

            n += q->conn_next == slot + 1;
            assert_true(q->intended_ns < inflight_at(&queries.inflight, q->conn_next)->intended_ns);
            slot = q->conn_next;
        }
    return n;
}

static void many_due_queries_are_queued_connection_by_connection(void **state)
{
    (void)state;
    start(4, 4000);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(queries.inflight.n_queued, 3997);
    assert_int_equal(n_neighbours(), 3997 - 4);
}

static void remove_usable(void *owner, struct client_conn *c)
{
    (void)owner;
    client_usable_remove(&usable, c);
}

/* Connections may be replaced, after queries_per_conn queries; 0: never for that reason. */
static void keep_slots(uint32_t queries_per_conn)
{
    static const struct client_conn_ops ops = {.unusable = remove_usable};

    config.queries_per_conn = queries_per_conn;
    turnover = (struct client_turnover){
        .transport = &transport, .slots = &slots, .queries_per_conn = queries_per_conn};
    dispatch.turnover = &turnover;
    transport.ops = &ops;
    assert_int_equal(client_slots_init(&slots, transport.n_conns, 1, 0), 0);
    assert_int_equal(client_usable_gather(&usable), 0);
}

static int stop_kept(void **state)
{
    client_slots_free(&slots);
    slots = (struct client_slots){0};
    return stop_dispatch(state);
}

static void
many_queries_of_replaceable_connections_are_queued_connection_by_connection(void **state)
{
    (void)state;
    start(4, 4000);
    keep_slots(0);
    client_dispatch_due(&dispatch, START + 999 * MS);
    assert_int_equal(queries.inflight.n_queued, 3997);
    assert_int_equal(n_neighbours(), 3997 - 4);
}

static void no_connection_takes_more_than_its_queries_however_many_are_due(void **state)
{
    (void)state;
    start(4, 4000);
    keep_slots(900);
    client_dispatch_due(&dispatch, START + 999 * MS);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(n_queued_on(i), 900);
        assert_int_equal(conns[i].state, CLIENT_CONN_FINISHING);
    }
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->unsent), 3997 - 4 * 900);
}

static void an_ended_connection_of_a_closed_loop_counts_nothing(void **state)
{
    (void)state;
    start(2, 0);
    config.loop = CLIENT_LOOP_CLOSED;
    config.interval_ns = 100 * MS;
    assert_int_equal(client_due_init(&due), 0);
    client_dispatch_start(&dispatch, takes, START);
    end_conn(0);
    client_dispatch_due(&dispatch, START + 100 * MS);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->scheduled), 1);
    assert_int_equal(tally_get(&counts(TALLY_MEASURED)->rerouted), 0);
    assert_int_equal(n_queued_on(0), 0);
    assert_int_equal(n_queued_on(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(due_queries_are_queued_with_their_intended_time, stop_dispatch),
        cmocka_unit_test_teardown(a_query_knows_how_late_it_was_queued, stop_dispatch),
        cmocka_unit_test(nothing_is_sent_on_a_connection_that_is_opening),
        cmocka_unit_test_teardown(warm_up_and_measurement_are_counted_apart, stop_dispatch),
        cmocka_unit_test_teardown(queries_of_an_unusable_connection_move_to_others, stop_dispatch),
        cmocka_unit_test(queries_move_to_the_only_usable_connection_of_many),
        cmocka_unit_test_teardown(without_a_usable_connection_queries_are_unsent_and_unanswered,
                                  stop_dispatch),
        cmocka_unit_test_teardown(a_backlog_is_queued_over_several_turns, stop_dispatch),
        cmocka_unit_test(at_higher_rates_a_turn_queues_more),
        cmocka_unit_test_teardown(many_due_queries_are_queued_connection_by_connection,
                                  stop_dispatch),
        cmocka_unit_test_teardown(
            many_queries_of_replaceable_connections_are_queued_connection_by_connection, stop_kept),
        cmocka_unit_test_teardown(no_connection_takes_more_than_its_queries_however_many_are_due,
                                  stop_kept),
        cmocka_unit_test_teardown(an_ended_connection_of_a_closed_loop_counts_nothing,
                                  stop_dispatch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
