/* SPDX-License-Identifier: MIT
 * test_due: when the next query is due, on which connection, and which query it is. */
#include "client/worker/due.h"

#include "worker_steps.h"

static const bool both_take[] = {true, true};
static struct client_due due;

static void start_due(double rate_qps)
{
    schedule_constant(&config.schedule, 1000 * MS, rate_qps);
    due = (struct client_due){.transport = &transport, .span = &span};
    assert_int_equal(client_due_init(&due), 0);
    client_due_start(&due, both_take, START);
}

static int stop(void **state)
{
    client_due_free(&due);
    return stop_worker(state);
}

/* Replaces the queries by those of a file; their offsets are returned in order. */
static void ask_three_names(size_t at[3])
{
    static const char text[] = "a.example\nbb.example\nccc.example\n";
    const struct query_ask ask = {.lines = {.file = "f", .text = text, .n_bytes = sizeof text - 1}};
    char error[QUERY_ERROR_BYTES];

    query_free(&config.query);
    assert_int_equal(query_init(&config.query, QUERY_DNS, &ask, error), 0);
    for (size_t i = 0; i < 3; i++)
        at[i] = query_at(&config.query, i);
}

static void arrivals_are_due_until_the_end(void **state)
{
    uint32_t connection;
    unsigned n_of_each[2] = {0};

    (void)state;
    start_worker(0, 1, 2);
    start_due(10);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(client_due_next_ns(&due), START + i * 100 * MS);
        assert_int_equal(client_due_take(&due, &connection), 0);
        assert_in_range(connection, 0, 1);
        n_of_each[connection]++;
    }
    assert_int_equal(n_of_each[0], 5);
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

static void nothing_is_due_after_the_load_was_stopped_or_cut_short(void **state)
{
    (void)state;
    start_worker(0, 1, 1);
    start_due(10);
    span.end_ns = START;
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
    span.end_ns = START + 1;
    assert_int_equal(client_due_next_ns(&due), START);
    span.running = false;
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

static void a_worker_that_takes_no_arrivals_is_never_due(void **state)
{
    static const bool other_takes[] = {false, true};

    (void)state;
    start_worker(0, 2, 1);
    start_due(10);
    client_due_start(&due, other_takes, START);
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

/* Two connections take turns: worker 0 has the even arrivals, worker 1 the odd ones. */
static void workers_together_use_the_queries_of_a_file_in_order(void **state)
{
    size_t at[3];
    uint32_t connection;

    (void)state;
    for (uint32_t w = 0; w < 2; w++) {
        start_worker(w, 2, 1);
        ask_three_names(at);
        start_due(10);
        for (uint64_t i = w; i < 10; i += 2) {
            assert_int_equal(client_due_next_ns(&due), START + i * 100 * MS);
            assert_int_equal(client_due_take(&due, &connection), at[i % 3]);
            assert_int_equal(connection, w);
        }
        stop(state);
    }
    start_worker(0, 1, 1);
}

static void start_closed(uint32_t worker, uint32_t n_workers, uint32_t n)
{
    start_worker(worker, n_workers, n);
    config.loop = CLIENT_LOOP_CLOSED;
    config.interval_ns = 100 * MS;
}

static void closed_loop_spreads_the_first_queries_over_an_interval(void **state)
{
    uint32_t connection;

    (void)state;
    start_closed(1, 2, 2); /* connections 2 and 3 of 4 */
    start_due(0);
    assert_int_equal(client_due_next_ns(&due), START + 50 * MS);
    client_due_take(&due, &connection);
    assert_int_equal(connection, 2);
    assert_int_equal(client_due_next_ns(&due), START + 75 * MS);
    client_due_take(&due, &connection);
    assert_int_equal(connection, 3);
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

static void closed_loop_continues_one_interval_after_an_answer(void **state)
{
    uint32_t connection;

    (void)state;
    start_closed(0, 1, 2);
    start_due(0);
    client_due_take(&due, &connection);
    client_due_take(&due, &connection);
    due.is_sooner = false;
    client_due_after(&due, &conns[1], START + 60 * MS);
    assert_int_equal(client_due_next_ns(&due), START + 160 * MS);
    assert_true(due.is_sooner); /* the loop was empty */
    due.is_sooner = false;
    client_due_after(&due, &conns[0], START + 70 * MS);
    assert_false(due.is_sooner);
    client_due_after(&due, &conns[1], START + 80 * MS); /* already in the loop */
    client_due_take(&due, &connection);
    assert_int_equal(connection, 1);
    assert_int_equal(client_due_next_ns(&due), START + 170 * MS);
    client_due_take(&due, &connection);
    assert_int_equal(connection, 0);
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

static void an_ended_connection_of_a_closed_loop_takes_no_query(void **state)
{
    size_t at[3];
    uint32_t connection;

    (void)state;
    start_closed(0, 1, 2);
    ask_three_names(at);
    start_due(0);
    end_conn(0);
    assert_int_equal(client_due_take(&due, &connection), at[0]);
    assert_int_equal(connection, CLIENT_CONN_NONE);
    assert_int_equal(client_due_take(&due, &connection), at[0]); /* not used by the ended one */
    assert_int_equal(connection, 1);
    client_due_after(&due, &conns[0], START);
    assert_true(client_due_next_ns(&due) == PACER_NEVER);
}

/* Worker 2 of 3 has the last third of the connections and starts at the last of three queries. */
static void workers_of_a_closed_loop_start_at_different_queries(void **state)
{
    size_t at[3];
    uint32_t connection;

    (void)state;
    start_closed(2, 3, 1);
    ask_three_names(at);
    start_due(0);
    assert_int_equal(client_due_take(&due, &connection), at[2]);
    client_due_after(&due, &conns[0], START);
    assert_int_equal(client_due_take(&due, &connection), at[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arrivals_are_due_until_the_end, stop),
        cmocka_unit_test_teardown(nothing_is_due_after_the_load_was_stopped_or_cut_short, stop),
        cmocka_unit_test_teardown(a_worker_that_takes_no_arrivals_is_never_due, stop),
        cmocka_unit_test_teardown(workers_together_use_the_queries_of_a_file_in_order, stop_worker),
        cmocka_unit_test_teardown(closed_loop_spreads_the_first_queries_over_an_interval, stop),
        cmocka_unit_test_teardown(closed_loop_continues_one_interval_after_an_answer, stop),
        cmocka_unit_test_teardown(an_ended_connection_of_a_closed_loop_takes_no_query, stop),
        cmocka_unit_test_teardown(workers_of_a_closed_loop_start_at_different_queries, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
