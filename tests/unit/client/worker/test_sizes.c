/* SPDX-License-Identifier: MIT
 * test_sizes: answers that are still to come when the size of queries changes. */
#include "client/worker/sizes.h"

#include "client/worker/answer.h"
#include "client/worker/conn.h"

#include "worker_steps.h"

enum { N_SIZES = 3 };

static struct query of_size[N_SIZES];
static struct client_due due;
static struct client_queries queries;
static struct client_stages stages;
static struct client_sizes sizes;
static struct client_answers answers;

/* Connections that were proven by queries of the first size. */
static int start(void **state)
{
    static const size_t n_bytes[N_SIZES] = {8, 20, 50};
    char error[QUERY_ERROR_BYTES];

    (void)state;
    start_worker(0, 1, 2);
    for (int i = 0; i < N_SIZES; i++)
        if (query_init(&of_size[i], QUERY_ECHO, &(struct query_ask){.size_bytes = n_bytes[i]},
                       error) != 0)
            return -1;
    config.sizes = of_size;
    config.n_sizes = N_SIZES;
    transport.query = of_size;
    conns[0].proven = conns[1].proven = true;
    due = (struct client_due){.transport = &transport, .span = &span};
    queries = (struct client_queries){
        .transport = &transport, .figures = &figures, .span = &span, .due = &due};
    sizes = (struct client_sizes){.transport = &transport, .inflight = &queries.inflight};
    answers = (struct client_answers){.transport = &transport,
                                      .figures = &figures,
                                      .queries = &queries,
                                      .stages = &stages,
                                      .sizes = &sizes};
    return inflight_init(&queries.inflight, 1, false) != 0 || client_sizes_init(&sizes) != 0;
}

static int stop(void **state)
{
    client_sizes_free(&sizes);
    inflight_free(&queries.inflight);
    for (int i = 0; i < N_SIZES; i++)
        query_free(&of_size[i]);
    return stop_worker(state);
}

/* The socket has no room for it yet. */
static uint32_t send_behind_others(uint32_t conn)
{
    struct inflight_list *list = &conns[conn].queries;
    const uint32_t slot = inflight_queue(&queries.inflight, list, conn, START, TALLY_WARMUP);
    bool recycled;

    assert_int_equal(inflight_assign_id(&queries.inflight, list, &recycled), 0);
    inflight_mark_sent(&queries.inflight, list, START);
    return slot;
}

static uint32_t send_query(uint32_t conn)
{
    const uint32_t slot = send_behind_others(conn);

    inflight_mark_written(&queries.inflight, &conns[conn].queries);
    return slot;
}

static void send_and_expire(void)
{
    client_query_expire(&queries, send_query(0), START + 100 * MS);
}

/* Bytes `from` to `to` of an answer. */
static void receive(uint32_t conn, uint32_t size, size_t from, size_t to)
{
    client_answer_take(&answers, &conns[conn], of_size[size].bytes + from, to - from, START + MS);
    assert_int_equal(conns[conn].state, CLIENT_CONN_LIVE);
}

static void receive_one(uint32_t conn, uint32_t size)
{
    receive(conn, size, 0, of_size[size].n_bytes);
}

static void assert_counts(uint64_t n_answered, uint64_t n_late)
{
    assert_int_equal(tally_get(&figures.tally.queries[TALLY_WARMUP].answered), n_answered);
    assert_int_equal(tally_get(&figures.tally.late), n_late);
    assert_int_equal(tally_get(&figures.tally.unknown_id) + tally_get(&figures.tally.duplicate), 0);
}

static void a_late_answer_of_an_earlier_size_is_late(void **state)
{
    uint8_t both[100];
    const size_t n_first = of_size[0].n_bytes, n_second = of_size[1].n_bytes;

    (void)state;
    send_and_expire();
    client_sizes_change(&sizes, 1);
    assert_ptr_equal(transport.query, &of_size[1]);
    send_query(0);
    memcpy(both, of_size[0].bytes, n_first);
    memcpy(both + n_first, of_size[1].bytes, n_second);
    client_answer_take(&answers, &conns[0], both, n_first + n_second, START + MS);
    assert_int_equal(conns[0].state, CLIENT_CONN_LIVE);
    assert_counts(1, 1);
}

static void an_answer_may_have_begun_before_the_change(void **state)
{
    (void)state;
    send_and_expire();
    receive(0, 0, 0, 3);
    client_sizes_change(&sizes, 1);
    receive(0, 0, 3, of_size[0].n_bytes);
    assert_counts(0, 1);
    send_query(0);
    receive_one(0, 1);
    assert_counts(1, 1);
}

static void answers_of_several_sizes_come_in_order(void **state)
{
    (void)state;
    send_and_expire();
    send_and_expire();
    client_sizes_change(&sizes, 1);
    client_sizes_change(&sizes, 1);
    send_and_expire();
    client_sizes_change(&sizes, 2);
    send_query(0);
    for (int i = 0; i < 2; i++)
        receive_one(0, 0);
    receive_one(0, 1);
    assert_counts(0, 3);
    receive_one(0, 2);
    assert_counts(1, 3);
}

/* Such as the proof of a connection that was opened just then. */
static void a_query_in_flight_is_answered_with_its_size(void **state)
{
    (void)state;
    send_query(0);
    client_sizes_change(&sizes, 2);
    send_query(0);
    receive_one(0, 0);
    receive_one(0, 2);
    assert_counts(2, 0);
}

/* It is encoded when the socket has room. */
static void a_query_of_which_nothing_was_written_has_the_new_size(void **state)
{
    (void)state;
    send_behind_others(0);
    client_sizes_change(&sizes, 1);
    inflight_mark_written(&queries.inflight, &conns[0].queries);
    receive_one(0, 1);
    assert_counts(1, 0);
}

/* One of them is opened later. */
static void connections_without_queries_owe_no_answers(void **state)
{
    (void)state;
    send_query(0);
    conns[1].state = CLIENT_CONN_NEW;
    conns[1].queries = (struct inflight_list){0};
    client_sizes_change(&sizes, 1);
    inflight_list_init(&conns[1].queries);
    conns[1].state = CLIENT_CONN_LIVE;
    send_query(1);
    receive_one(1, 1);
    assert_counts(1, 0);
}

/* The answers of the one before it in its slot do not come. */
static void a_new_connection_owes_nothing(void **state)
{
    (void)state;
    send_and_expire();
    client_sizes_change(&sizes, 1);
    client_query_lost(&queries, &conns[0], (struct outcome){PHASE_RUN, REASON_FINISHED});
    conns[0].state = CLIENT_CONN_ENDED;
    client_conn_begin(&conns[0], &transport);
    conns[0].stream = (struct query_stream){0};
    conns[0].state = CLIENT_CONN_LIVE;
    send_query(0);
    receive_one(0, 1);
    assert_counts(1, 0);
    send_and_expire();
    client_sizes_change(&sizes, 2);
    receive_one(0, 1);
    assert_counts(1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_late_answer_of_an_earlier_size_is_late),
        TEST(an_answer_may_have_begun_before_the_change),
        TEST(answers_of_several_sizes_come_in_order),
        TEST(a_query_in_flight_is_answered_with_its_size),
        TEST(a_query_of_which_nothing_was_written_has_the_new_size),
        TEST(connections_without_queries_owe_no_answers),
        TEST(a_new_connection_owes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
