/* SPDX-License-Identifier: MIT
 * test_class_load: the queries of classes: when they are due, on which connection, which they are,
 * and how they are counted. */
#include "client/worker/dispatch.h"

#include "dispatch_steps.h"

#include <stdlib.h>

enum { N_CLASSES = 3, N = 4 };

static struct query class_queries[N_CLASSES];

/* The first two connections get 30 of the 40 queries/s, the third one 10, the last one none. */
static const struct client_class classes[N_CLASSES] = {
    {.name = "often",
     .n_before = 0,
     .n_connections = 2,
     .part = 0.75,
     .arrival = PACER_CONSTANT,
     .select = CLIENT_SELECT_ROUND_ROBIN},
    {.name = "seldom",
     .n_before = 2,
     .n_connections = 1,
     .part = 0.25,
     .arrival = PACER_CONSTANT,
     .select = CLIENT_SELECT_ROUND_ROBIN},
    {.name = "never",
     .n_before = 3,
     .n_connections = 1,
     .part = 0,
     .arrival = PACER_CONSTANT,
     .select = CLIENT_SELECT_ROUND_ROBIN},
};

static void encode_queries(void)
{
    static const char often[] = "a.example\nbb.example\n";
    const struct query_ask ask = {
        .lines = {.file = "f", .text = often, .n_bytes = sizeof often - 1}};
    char error[QUERY_ERROR_BYTES];

    assert_int_equal(query_init(&class_queries[0], QUERY_DNS, &ask, error), 0);
    assert_int_equal(query_init(&class_queries[1], QUERY_DNS, &(struct query_ask){0}, error), 0);
    assert_int_equal(query_init(&class_queries[2], QUERY_DNS, &(struct query_ask){0}, error), 0);
}

static void add_classes(void)
{
    encode_queries();
    config.classes = classes;
    config.n_classes = N_CLASSES;
    config.class_queries = class_queries;
    transport.query = class_queries;
    figures.classes = client_class_figures_new(N_CLASSES);
    assert_non_null(figures.classes);
    figures.n_classes = N_CLASSES;
    for (uint32_t k = 0; k < N_CLASSES; k++)
        for (uint32_t i = 0;
             i < client_class_n_slots(&classes[k], config.n_workers, transport.worker); i++) {
            const uint32_t slot =
                client_class_first_slot(&classes[k], config.n_workers, transport.worker) + i;

            conns[slot].class_index = k & 0xf;
            tally_add(&figures.classes[k].n_live, 1);
        }
}

static void start(uint32_t worker, uint32_t n_workers)
{
    start_worker(worker, n_workers, N / n_workers);
    add_classes();
    start_dispatch(40, NULL);
}

/* The first two connections are due every 100 ms, the third one every 30 ms. */
static void start_closed(void)
{
    static const struct client_class closed[N_CLASSES] = {
        {.name = "a", .n_connections = 2, .interval_ns = 100 * MS},
        {.name = "b", .n_before = 2, .n_connections = 1, .interval_ns = 30 * MS},
        {.name = "c", .n_before = 3, .n_connections = 1, .interval_ns = 1000 * MS},
    };

    start(0, 1);
    client_due_free(&due);
    config.classes = closed;
    config.loop = CLIENT_LOOP_CLOSED;
    due = (struct client_due){.transport = &transport, .span = &span};
    assert_int_equal(client_due_init(&due), 0);
    client_due_start(&due, NULL, START);
}

static int stop(void **state)
{
    for (int k = 0; k < N_CLASSES; k++)
        query_free(&class_queries[k]);
    return stop_dispatch(state);
}

static const struct tally_queries *counts(int k)
{
    return &figures.classes[k].tally.queries[TALLY_MEASURED];
}

/* Arrivals of all workers on each connection: those of the classes do not mix. */
static void each_class_has_its_part_of_the_rate_on_its_connections(void **state)
{
    static const uint32_t expected[N] = {15, 15, 10, 0};

    (void)state;
    for (uint32_t n_workers = 1; n_workers <= N; n_workers *= 2) {
        uint32_t n_of_class[N_CLASSES] = {0}, n_on[N] = {0}, connection;

        for (uint32_t w = 0; w < n_workers; w++) {
            uint64_t previous_ns = 0;

            start(w, n_workers);
            while (client_due_next_ns(&due) != PACER_NEVER) {
                assert_true(client_due_next_ns(&due) >= previous_ns);
                previous_ns = client_due_next_ns(&due);
                client_due_take(&due, &connection);
                assert_in_range(connection - transport.first_conn, 0, transport.n_conns - 1);
                n_of_class[conns[connection - transport.first_conn].class_index]++;
                n_on[connection]++;
            }
            if (n_workers > 1 && w + 1 < n_workers)
                stop(state);
        }
        assert_int_equal(n_of_class[0], 30);
        assert_int_equal(n_of_class[1], 10);
        assert_int_equal(n_of_class[2], 0);
        for (int i = 0; n_workers == 1 && i < N; i++)
            assert_int_equal(n_on[i], expected[i]);
        if (n_workers < N)
            stop(state);
    }
}

static void each_class_goes_through_its_own_queries(void **state)
{
    const size_t second_of_often = 2 + (2 + 4 + 6 + 11 + 4);
    size_t expected = 0;
    uint32_t connection;

    (void)state;
    start(0, 1);
    for (int n = 0; n < 40; n++) {
        const size_t query = client_due_take(&due, &connection);

        if (connection >= 2) {
            assert_int_equal(query, 0);
            continue;
        }
        assert_int_equal(query == 0, expected == 0);
        expected = expected == 0 ? second_of_often : 0;
    }
}

static void queries_are_counted_in_all_and_in_their_class(void **state)
{
    (void)state;
    start(0, 1);
    client_dispatch_due(&dispatch, START + 1000 * MS);
    assert_int_equal(tally_get(&figures.tally.queries[TALLY_MEASURED].scheduled), 40);
    assert_int_equal(tally_get(&counts(0)->scheduled), 30);
    assert_int_equal(tally_get(&counts(1)->scheduled), 10);
    assert_int_equal(tally_get(&counts(2)->scheduled), 0);
}

static void another_connection_is_one_of_the_same_class(void **state)
{
    (void)state;
    start(0, 1);
    end_conn(0);
    tally_sub(&figures.classes[0].n_live, 1);
    end_conn(2);
    tally_sub(&figures.classes[1].n_live, 1);
    client_dispatch_due(&dispatch, START + 1000 * MS);
    assert_int_equal(tally_get(&counts(0)->rerouted), 15);
    assert_int_equal(tally_get(&counts(0)->unsent), 0);
    assert_int_equal(tally_get(&counts(1)->rerouted), 0);
    assert_int_equal(tally_get(&counts(1)->unsent), 10); /* none of the class is left */
    assert_int_equal(figures.classes[1].sets[0].response.beyond, 10);
    assert_int_equal(figures.classes[0].sets[0].response.beyond, 0);
    assert_int_equal(conns[3].queries.head, INFLIGHT_NONE);
}

static void another_rate_is_shared_in_the_same_parts(void **state)
{
    struct schedule half;

    (void)state;
    start(0, 1);
    schedule_constant(&half, 1000 * MS, 20);
    client_due_replace(&due, &half);
    client_dispatch_due(&dispatch, START + 1000 * MS);
    assert_int_equal(tally_get(&counts(0)->scheduled), 15);
    assert_int_equal(tally_get(&counts(1)->scheduled), 5);
    assert_int_equal(tally_get(&counts(2)->scheduled), 0);
}

static void assert_due(uint64_t at_ns, uint32_t expected)
{
    uint32_t connection;

    assert_int_equal(client_due_next_ns(&due), START + at_ns);
    client_due_take(&due, &connection);
    assert_int_equal(connection, expected);
}

/* Each answer takes 1 ms. */
static void classes_of_a_closed_loop_have_their_own_intervals(void **state)
{
    (void)state;
    start_closed();
    assert_due(0, 0);
    client_due_after(&due, &conns[0], START + 1 * MS); /* 101 ms */
    assert_false(due.is_sooner);
    assert_due(0, 2);
    assert_due(0, 3);
    client_due_after(&due, &conns[2], START + 1 * MS);
    assert_true(due.is_sooner); /* than connection 1 */
    due.is_sooner = false;
    client_due_after(&due, &conns[3], START + 1 * MS);
    assert_false(due.is_sooner);
    assert_due(31 * MS, 2);
    client_due_after(&due, &conns[2], START + 32 * MS);
    assert_due(50 * MS, 1);
    client_due_after(&due, &conns[1], START + 51 * MS);
    assert_due(62 * MS, 2);
    assert_due(101 * MS, 0);
    assert_due(151 * MS, 1);
    assert_true(client_due_next_ns(&due) == PACER_NEVER); /* connection 3 is due after the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_class_has_its_part_of_the_rate_on_its_connections, stop),
        cmocka_unit_test_teardown(each_class_goes_through_its_own_queries, stop),
        cmocka_unit_test_teardown(queries_are_counted_in_all_and_in_their_class, stop),
        cmocka_unit_test_teardown(another_connection_is_one_of_the_same_class, stop),
        cmocka_unit_test_teardown(another_rate_is_shared_in_the_same_parts, stop),
        cmocka_unit_test_teardown(classes_of_a_closed_loop_have_their_own_intervals, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
