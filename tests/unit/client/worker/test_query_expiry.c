/* SPDX-License-Identifier: MIT
 * test_query_expiry: many queries that time out at once. */
#include "client/worker/query.h"

#include "net/worker.h"
#include "protocol/query_init.h"
#include "transport_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_CONNS = 200, MOST_CLOSED_AT_A_TIME = 64 };

static struct client_span span;
static struct client_due due;
static struct client_queries queries;

static void on_unusable(void *owner, struct client_conn *c)
{
    (void)owner;
    (void)c;
}

static void on_ended(void *owner, struct client_conn *c, struct outcome outcome)
{
    (void)owner;
    client_query_lost(&queries, c, outcome);
}

static const struct client_conn_ops ops = {.unusable = on_unusable, .ended = on_ended};

/* A usable connection, without a socket, whose query has timed out. */
static void add_conn(struct client_conn *c, uint32_t number)
{
    const uint64_t long_ago_ns = 1;
    uint32_t slot;
    bool recycled;

    c->transport = &transport;
    c->state = CLIENT_CONN_LIVE;
    tally_add(&figures.n_live, 1);
    inflight_list_init(&c->queries);
    c->socket.fd = -1;
    slot = inflight_queue(&queries.inflight, &c->queries, number, long_ago_ns, TALLY_MEASURED);
    assert_int_equal(inflight_assign_id(&queries.inflight, &c->queries, &recycled), 0);
    inflight_mark_sent(&queries.inflight, &c->queries, long_ago_ns);
    inflight_mark_written(&queries.inflight, &c->queries);
    client_query_sent(&queries, inflight_at(&queries.inflight, slot), long_ago_ns);
}

static int setup(void **state)
{
    char error[QUERY_ERROR_BYTES];

    (void)state;
    if (transport_begin(&ops, N_CONNS) != 0 ||
        event_base_priority_init(transport.base, WORKER_N_PRIORITIES) != 0 ||
        query_init(&config.query, QUERY_PING, &(struct query_ask){0}, error) != 0)
        return -1;
    config.n_connections = N_CONNS;
    config.n_workers = 1;
    config.timeout_ns = 1000;
    due = (struct client_due){.transport = &transport, .span = &span};
    queries = (struct client_queries){
        .transport = &transport, .figures = &figures, .span = &span, .due = &due};
    if (client_query_init(&queries) != 0)
        return -1;
    for (uint32_t i = 0; i < N_CONNS; i++)
        add_conn(&transport.conns[i], i);
    client_query_arm_expiry(&queries);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_query_free(&queries);
    query_free(&config.query);
    transport_end();
    return 0;
}

static uint64_t n_timed_out(void)
{
    return tally_get(&figures.tally.queries[TALLY_MEASURED].timeout);
}

static uint64_t n_closed(void)
{
    return tally_get(&figures.tally.connections.ended[PHASE_RECEIVE][REASON_TIMEOUT]);
}

/* Each call of event_base_loop() calls back once. */
static void few_connections_are_closed_at_a_time(void **state)
{
    (void)state;
    config.on_timeout = CLIENT_TIMEOUT_CLOSE;
    for (uint64_t n_before = 0; n_before < N_CONNS; n_before = n_closed()) {
        assert_int_equal(event_base_loop(transport.base, EVLOOP_ONCE), 0);
        assert_in_range(n_closed() - n_before, 1, MOST_CLOSED_AT_A_TIME);
        assert_int_equal(n_timed_out(), n_closed());
    }
    assert_int_equal(queries.inflight.n_sent, 0);
    assert_int_equal(tally_get(&figures.n_live), 0);
}

static void count_call(evutil_socket_t fd, short what, void *arg)
{
    unsigned *n_calls = arg;

    (void)fd;
    (void)what;
    ++*n_calls;
}

/* They would put off each batch for WORKER_MOST_PUT_OFF_S, thousands of calls. */
static void ready_sockets_do_not_put_off_the_rest(void **state)
{
    const int fd = eventfd(1, EFD_CLOEXEC);
    struct event ready;
    unsigned n_calls = 0;

    (void)state;
    assert_true(fd >= 0);
    config.on_timeout = CLIENT_TIMEOUT_CLOSE;
    assert_int_equal(event_base_loop(transport.base, EVLOOP_ONCE), 0);
    assert_int_equal(n_closed(), MOST_CLOSED_AT_A_TIME);
    event_assign(&ready, transport.base, fd, EV_READ | EV_PERSIST, count_call, &n_calls);
    assert_int_equal(event_add(&ready, NULL), 0);
    while (n_closed() < N_CONNS) {
        assert_int_equal(event_base_loop(transport.base, EVLOOP_ONCE), 0);
        assert_in_range(n_calls, 0, 100);
    }
    assert_int_equal(event_del(&ready), 0);
    assert_int_equal(close(fd), 0);
}

static void queries_that_close_nothing_are_given_up_at_once(void **state)
{
    (void)state;
    assert_int_equal(event_base_loop(transport.base, EVLOOP_ONCE), 0);
    assert_int_equal(n_timed_out(), N_CONNS);
    assert_int_equal(n_closed(), 0);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    unsigned *n_read = arg;

    (void)fd;
    (void)what;
    assert_int_equal(n_timed_out(), 0);
    ++*n_read;
}

/* However many are ready: more than one call of epoll_wait(2) returns. */
static void sockets_are_read_before_queries_are_given_up(void **state)
{
    struct event events[N_CONNS];
    unsigned n_read = 0;

    (void)state;
    for (int i = 0; i < N_CONNS; i++) {
        const int fd = eventfd(1, EFD_CLOEXEC);

        assert_true(fd >= 0);
        event_assign(&events[i], transport.base, fd, EV_READ, on_readable, &n_read);
        assert_int_equal(event_add(&events[i], NULL), 0);
    }
    assert_int_equal(event_base_loop(transport.base, EVLOOP_ONCE), 0);
    assert_int_equal(n_read, N_CONNS);
    assert_int_equal(n_timed_out(), N_CONNS);
    for (int i = 0; i < N_CONNS; i++)
        assert_int_equal(close(event_get_fd(&events[i])), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_connections_are_closed_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(ready_sockets_do_not_put_off_the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_that_close_nothing_are_given_up_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(sockets_are_read_before_queries_are_given_up, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
