/* SPDX-License-Identifier: MIT
 * test_idle: for how long a connection may be idle, and when the timer is due. */
#include "client/worker/idle.h"

#include "client/worker/conn.h"
#include "worker_steps.h"

#define S (1000 * MS)

static struct client_idle idle;

/* Two idle connections that close after an hour. */
static int start(void **state)
{
    (void)state;
    start_worker(0, 1, 2);
    config.on_demand = config.keepalive = true;
    config.idle_close_ns = 3600 * S;
    transport.base = event_base_new();
    idle = (struct client_idle){.transport = &transport};
    if (transport.base == NULL || client_idle_init(&idle) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        client_idle_allow_any(&idle, &conns[i]);
    return 0;
}

static int stop(void **state)
{
    client_idle_free(&idle);
    event_base_free(transport.base);
    return stop_worker(state);
}

/* Returns for how long the first connection may be idle if the server allows this many 100 ms. */
static uint64_t closes_after_ns(uint16_t timeout)
{
    client_idle_allow(&idle, &conns[0], timeout);
    client_idle_rest(&idle, &conns[0], START);
    return deadlines_next_ns(&idle.deadlines) - START;
}

static void the_client_closes_before_the_server_does(void **state)
{
    (void)state;
    assert_int_equal(closes_after_ns(1), 90 * MS);
    assert_int_equal(closes_after_ns(10), 900 * MS);
    assert_int_equal(closes_after_ns(50), 4500 * MS);
    assert_int_equal(closes_after_ns(51), 4600 * MS); /* not more than 500 ms before */
    assert_int_equal(closes_after_ns(12000), 1200 * S - 500 * MS);
}

static void the_shorter_limit_counts(void **state)
{
    (void)state;
    client_idle_rest(&idle, &conns[0], START);
    assert_int_equal(deadlines_next_ns(&idle.deadlines), START + 3600 * S);
    assert_int_equal(closes_after_ns(UINT16_MAX), 3600 * S);
    config.idle_close_ns = 0;
    assert_int_equal(closes_after_ns(UINT16_MAX), 6553 * S);
}

static void the_timer_is_due_with_the_first_connection(void **state)
{
    (void)state;
    client_idle_rest(&idle, &conns[0], START);
    assert_int_equal(idle.armed_ns, START + 3600 * S);
    client_idle_allow(&idle, &conns[1], 10);
    client_idle_rest(&idle, &conns[1], START + S);
    assert_int_equal(idle.armed_ns, START + 1900 * MS);
    assert_true(event_pending(&idle.close_event, EV_TIMEOUT, NULL));
    client_idle_rest(&idle, &conns[1], START + 2 * S); /* the event finds none, and is set again */
    assert_int_equal(idle.armed_ns, START + 1900 * MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_client_closes_before_the_server_does),
        TEST(the_shorter_limit_counts),
        TEST(the_timer_is_due_with_the_first_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
