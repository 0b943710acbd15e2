/* SPDX-License-Identifier: MIT
 * test_connect: what waiting for the connect rate takes, from when the rate counts, which arrivals
 * waited for the window, in which order connections are opened, and that connecting ends.
 * Linked with --wrap=client_tuples_connect and --wrap=client_events_open: a connection is opening
 * until the test ends it. */
#include "client/worker/connect.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/events.h"
#include "client/worker/targets.h"
#include "conn_ops_steps.h"
#include "host/memory_watch.h"
#include "worker_steps.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { N = 4, GRANT = 10, MOST_OPENED = 8 };

static struct memory_watch memory;
static struct client_queries queries;
static struct client_send to_send;
static struct client_slots slots;
static struct client_pool pool;
static struct client_stages stages;
static struct client_connect connecting;
static uint32_t opened[MOST_OPENED]; /* slots, in the order in which they were opened */
static int n_opened;

int __wrap_client_tuples_connect(struct client_tuples *t, const struct sock_address *target,
                                 uint64_t *tuple, struct outcome *failed);
void __wrap_client_events_open(struct client_conn *c, int fd);

int __wrap_client_tuples_connect(struct client_tuples *t, const struct sock_address *target,
                                 uint64_t *tuple, struct outcome *failed)
{
    (void)t;
    (void)target;
    (void)failed;
    *tuple = CLIENT_TUPLE_NONE;
    return eventfd(0, EFD_CLOEXEC);
}

void __wrap_client_events_open(struct client_conn *c, int fd)
{
    close(fd);
    c->socket.fd = -1;
    assert_true(n_opened < MOST_OPENED);
    opened[n_opened++] = client_conn_slot(c);
}

/* Connections without a rate, all of them in the first window; the caller may change the
 * configuration before start_connecting(). */
static int start(void **state)
{
    (void)state;
    start_worker(0, 1, N);
    memset(conns, 0, sizeof conns);
    n_opened = 0;
    config.connect_window = N;
    config.memory = &memory;
    transport.ops = &ignoring_ops;
    transport.base = event_base_new();
    transport.first_ended = CLIENT_CONN_NONE;
    atomic_store(&memory.grant, GRANT);
    atomic_store(&memory.was_short, false);
    stages = (struct client_stages){.wake_fd = eventfd(0, EFD_CLOEXEC)};
    client_pool_init(&pool, N, N);
    queries = (struct client_queries){.transport = &transport, .figures = &figures, .span = &span};
    to_send = (struct client_send){.transport = &transport, .queries = &queries};
    connecting = (struct client_connect){.transport = &transport,
                                         .slots = &slots,
                                         .pool = &pool,
                                         .send = &to_send,
                                         .stages = &stages,
                                         .span = &span};
    return transport.base != NULL && client_query_init(&queries) == 0 ? client_send_init(&to_send)
                                                                      : -1;
}

static int stop(void **state)
{
    client_connect_stop(&connecting);
    client_connect_free(&connecting);
    client_send_free(&to_send);
    client_query_free(&queries);
    client_pool_free(&pool);
    client_slots_free(&slots);
    slots = (struct client_slots){.all = NULL};
    event_base_free(transport.base);
    close(stages.wake_fd);
    return stop_worker(state);
}

static void start_connecting(void)
{
    assert_int_equal(client_connect_init(&connecting), 0);
    client_connect_start(&connecting, clock_now_ns());
}

static uint64_t n_attempted(void)
{
    return tally_get(&figures.tally.connections.attempted);
}

static void waiting_for_the_rate_takes_no_memory(void **state)
{
    (void)state;
    config.connect_rate_per_s = 0.001;
    start_connecting();
    assert_int_equal(n_attempted(), 1);
    for (int i = 0; i < 3; i++)
        client_connect_more(&connecting);
    assert_int_equal(n_attempted(), 1);
    assert_int_equal(atomic_load(&memory.grant), GRANT - 1);
}

/* Not from the event that opens the connection, which may be late. */
static void the_rate_counts_from_the_request(void **state)
{
    uint64_t requested_ns;

    (void)state;
    config.on_demand = true;
    config.connect_rate_per_s = 1e6;
    client_pool_want(&pool, 0);
    assert_int_equal(client_slots_init(&slots, N, 1, 0), 0);
    start_connecting();
    assert_true(connecting.idle);
    requested_ns = clock_now_ns();
    assert_true(connecting.pacer.next_ns < requested_ns);
    client_connect_reopen(&connecting, 0);
    assert_false(connecting.idle);
    assert_true(connecting.pacer.next_ns >= requested_ns);
}

/* Of a slot whose last connection was closed by request, too. */
static void a_connection_that_was_requested_replaces_none(void **state)
{
    static struct client_targets targets;

    (void)state;
    config.targets = &targets;
    assert_int_equal(client_slots_init(&slots, N, 1, 0), 0);
    assert_false(client_slots_begin(&slots, 0));
    start_connecting();
    assert_int_equal(n_attempted(), N);
    assert_int_equal(tally_get(&figures.tally.connections.reopened), 0);
}

static void an_arrival_that_was_due_while_the_window_was_full_was_held(void **state)
{
    const tally_count *held = &figures.tally.connections.held;

    (void)state;
    config.connect_arrival = CLIENT_CONNECT_CONSTANT;
    config.connect_rate_per_s = 1e6;
    config.connect_window = 1;
    start_connecting();
    assert_int_equal(n_attempted(), 1);
    assert_int_equal(tally_get(held), 0);
    while (clock_now_ns() <= connecting.pacer.next_ns)
        ;
    client_connect_settled(&connecting, &conns[0]);
    client_connect_more(&connecting);
    assert_int_equal(n_attempted(), 2);
    assert_int_equal(tally_get(held), 1);
}

static void end(uint32_t slot)
{
    conns[slot].state = CLIENT_CONN_ENDED;
    client_connect_settled(&connecting, &conns[slot]);
}

/* Those that fail again and again do not keep the others from being opened. */
static void replacements_and_slots_never_tried_take_turns(void **state)
{
    static const uint32_t order[] = {0, 1, 0, 2, 1, 3};

    (void)state;
    assert_int_equal(client_slots_init(&slots, N, 1, 0), 0);
    client_pool_want(&pool, 2);
    start_connecting();
    end(0);
    end(1);
    client_connect_beyond_first_window(&connecting);
    client_pool_want(&pool, N);
    client_connect_reopen(&connecting, 0);
    client_connect_reopen(&connecting, 1);
    client_connect_more(&connecting);
    assert_int_equal(n_opened, 6);
    assert_memory_equal(opened, order, sizeof order);
}

/* When the first window had settled, others were to follow: only this event says that all have. */
static void connecting_ends_if_memory_runs_short_after_the_first_window(void **state)
{
    (void)state;
    config.connect_window = 2;
    start_connecting();
    end(0);
    end(1);
    assert_int_equal(event_base_loop(transport.base, EVLOOP_NONBLOCK), 1); /* nothing to do */
    assert_int_equal(client_stage_of(&stages), CLIENT_CONNECTING);
    atomic_store(&memory.was_short, true);
    client_connect_beyond_first_window(&connecting);
    assert_int_equal(event_base_loop(transport.base, EVLOOP_NONBLOCK), 1);
    assert_int_equal(client_stage_of(&stages), CLIENT_CONNECTED);
    assert_int_equal(n_opened, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waiting_for_the_rate_takes_no_memory),
        TEST(the_rate_counts_from_the_request),
        TEST(a_connection_that_was_requested_replaces_none),
        TEST(an_arrival_that_was_due_while_the_window_was_full_was_held),
        TEST(replacements_and_slots_never_tried_take_turns),
        TEST(connecting_ends_if_memory_runs_short_after_the_first_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
