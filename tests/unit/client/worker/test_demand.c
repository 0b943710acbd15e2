/* SPDX-License-Identifier: MIT
 * test_demand: which part of the wait for a connection is this host's own delay. */
#include "client/worker/demand.h"

#include "worker_steps.h"

static struct client_queries queries;
static struct client_send to_send;
static struct client_connect connecting;
static struct client_idle idle;
static struct client_demand demand;

/* One client without a connection, which cannot request any. */
static int start(void **state)
{
    (void)state;
    start_worker(0, 1, 1);
    end_conn(0);
    config.on_demand = true;
    queries = (struct client_queries){.transport = &transport, .figures = &figures, .span = &span};
    to_send = (struct client_send){.transport = &transport, .queries = &queries};
    connecting = (struct client_connect){.transport = &transport, .stopped = true};
    demand = (struct client_demand){.transport = &transport,
                                    .connect = &connecting,
                                    .queries = &queries,
                                    .send = &to_send,
                                    .idle = &idle};
    if (inflight_init(&queries.inflight, 4, true) != 0 || client_send_init(&to_send) != 0 ||
        client_hold_init(&connecting.hold, 1) != 0)
        return -1;
    return client_demand_init(&demand);
}

static int stop(void **state)
{
    client_demand_free(&demand);
    client_hold_free(&connecting.hold);
    client_send_free(&to_send);
    inflight_free(&queries.inflight);
    return stop_worker(state);
}

static uint32_t queue_in(uint8_t class, uint64_t intended_ns, uint32_t late_us)
{
    const uint32_t slot = client_demand_queue(&demand, 0, intended_ns, class);

    assert_int_not_equal(slot, INFLIGHT_NONE);
    inflight_at(&queries.inflight, slot)->late_us = late_us;
    return slot;
}

/* It is queued late_us after it was due. */
static uint32_t queue(uint64_t intended_ns, uint32_t late_us)
{
    return queue_in(TALLY_MEASURED, intended_ns, late_us);
}

static uint32_t late_us_of(uint32_t slot)
{
    return inflight_at(&queries.inflight, slot)->late_us;
}

static void become_usable(uint64_t now_ns)
{
    conns[0].state = CLIENT_CONN_LIVE;
    client_demand_usable(&demand, &conns[0], now_ns);
}

static void the_wait_for_the_connect_rate_is_this_hosts(void **state)
{
    const uint32_t first = queue(START, 300), second = queue(START + 5 * MS, 0);
    const uint32_t third = queue(START + 25 * MS, 70);

    (void)state;
    client_hold_request(&connecting.hold, 0, START);
    client_hold_allow(&connecting.hold, 0, START + 20 * MS);
    become_usable(START + 90 * MS);
    assert_int_equal(late_us_of(first), 20000);
    assert_int_equal(late_us_of(second), 15000);
    assert_int_equal(late_us_of(third), 70); /* during the handshake */
    assert_int_equal(figures.longest_hold_ns, 20 * MS - 300000);
}

static void the_longest_wait_is_that_of_the_measurement(void **state)
{
    const uint32_t before = queue_in(TALLY_WARMUP, START, 0), measured = queue(START + 15 * MS, 0);

    (void)state;
    client_hold_request(&connecting.hold, 0, START);
    client_hold_allow(&connecting.hold, 0, START + 20 * MS);
    become_usable(START + 20 * MS);
    assert_int_equal(late_us_of(before), 20000);
    assert_int_equal(late_us_of(measured), 5000);
    assert_int_equal(figures.longest_hold_ns, 5 * MS);
}

/* The rate allowed the connection, but earlier ones were not yet answered. */
static void the_wait_for_the_connect_window_is_not(void **state)
{
    const uint32_t slot = queue(START, 300);

    (void)state;
    client_hold_request(&connecting.hold, 0, START + MS);
    client_hold_allow(&connecting.hold, 0, START + MS / 2);
    become_usable(START + 90 * MS);
    assert_int_equal(late_us_of(slot), 300);
    assert_int_equal(figures.longest_hold_ns, 0);
}

static void without_a_rate_the_wait_is_not(void **state)
{
    const uint32_t slot = queue(START, 300);

    (void)state;
    client_hold_free(&connecting.hold);
    become_usable(START + 90 * MS);
    assert_int_equal(late_us_of(slot), 300);
}

static void a_wait_too_long_for_its_field_stays_the_longest(void **state)
{
    const uint32_t slot = queue(START, UINT32_MAX - 1);

    (void)state;
    client_hold_allow(&connecting.hold, 0, START + 5000 * 1000 * MS);
    become_usable(START + 5000 * 1000 * MS);
    assert_int_equal(late_us_of(slot), UINT32_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_wait_for_the_connect_rate_is_this_hosts),
        TEST(the_longest_wait_is_that_of_the_measurement),
        TEST(the_wait_for_the_connect_window_is_not),
        TEST(without_a_rate_the_wait_is_not),
        TEST(a_wait_too_long_for_its_field_stays_the_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
