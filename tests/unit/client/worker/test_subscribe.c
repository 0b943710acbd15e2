/* SPDX-License-Identifier: MIT
 * test_subscribe: messages of a sender with another clock.
 * Linked with --wrap=clock_realtime_offset_ns. */
#include "client/worker/subscribe.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "worker_steps.h"

#define SENDER_OFFSET (7000 * 1000 * MS) /* its CLOCK_REALTIME less its CLOCK_MONOTONIC */
#define OFFSET        (8000 * 1000 * MS) /* this host's */
#define DELAY         (3 * MS)           /* of every message */

static struct client_subscribe subscribe;
static uint64_t sequence, realtime_offset_ns;

uint64_t __wrap_clock_realtime_offset_ns(void);

uint64_t __wrap_clock_realtime_offset_ns(void)
{
    return realtime_offset_ns;
}

static int setup(void **state)
{
    (void)state;
    start_worker(0, 1, 1);
    transport.base = event_base_new();
    subscribe = (struct client_subscribe){.transport = &transport, .span = &span};
    realtime_offset_ns = OFFSET;
    sequence = 0;
    if (transport.base == NULL || client_subscribe_init(&subscribe) != 0)
        return -1;
    client_subscribe_begin(&subscribe, &conns[0]);
    conns[0].proven = true;
    span.measure_ns = clock_now_ns();
    span.end_ns = UINT64_MAX;
    return 0;
}

static int teardown(void **state)
{
    client_subscribe_free(&subscribe);
    event_base_free(transport.base);
    return stop_worker(state);
}

/* Receives a message that was sent DELAY before, at this time of this host's clock. */
static void receive_at(uint64_t received_ns)
{
    const uint64_t sent_ns = received_ns - DELAY + OFFSET - SENDER_OFFSET;
    const struct push_message m = {.n_bytes = PUSH_MIN_BYTES,
                                   .sequence = sequence++,
                                   .intended_ns = sent_ns,
                                   .sent_ns = sent_ns,
                                   .realtime_offset_ns = SENDER_OFFSET,
                                   .clock_id = subscribe.clock_id + 1};
    uint8_t bytes[PUSH_MIN_BYTES];

    push_encode(&m, subscribe.pattern, bytes);
    client_subscribe_take(&subscribe, &conns[0], bytes, sizeof bytes, received_ns);
}

static void sender_with_another_clock_is_timed_by_the_dates_of_both(void **state)
{
    const struct hist *service = &figures.metrics[CLIENT_SERVICE];

    (void)state;
    receive_at(span.measure_ns + DELAY);
    receive_at(span.measure_ns + 2 * DELAY);
    assert_int_equal(service->count, 1); /* the first is the greeting */
    assert_int_equal(service->min_ns, DELAY);
}

/* What a sender claims may be anything; with UndefinedBehaviorSanitizer, a sum that overflows ends
 * the test. */
static void a_lag_beyond_all_times_is_counted(void **state)
{
    const struct hist *own = &figures.metrics[CLIENT_OWN];
    struct push_message m = {.n_bytes = PUSH_MIN_BYTES, .clock_id = subscribe.clock_id};
    uint8_t bytes[PUSH_MIN_BYTES];

    (void)state;
    for (m.sequence = 0; m.sequence < 2; m.sequence++) {
        m.intended_ns = span.measure_ns;
        m.sent_ns = m.intended_ns + INT64_MAX;
        transport.arrived_ns = span.measure_ns;
        push_encode(&m, subscribe.pattern, bytes);
        client_subscribe_take(&subscribe, &conns[0], bytes, sizeof bytes, span.measure_ns + DELAY);
    }
    transport.arrived_ns = 0;
    assert_int_equal(own->count, 1);
}

/* The kernel dates an arrival by CLOCK_REALTIME, which was set back before the message was read. */
static void an_arrival_after_its_message_was_read_is_unknown(void **state)
{
    const struct hist *own = &figures.metrics[CLIENT_OWN];

    (void)state;
    receive_at(span.measure_ns + DELAY);
    transport.arrived_ns = span.measure_ns + 1000 * MS;
    receive_at(span.measure_ns + 2 * DELAY);
    transport.arrived_ns = 0;
    assert_int_equal(figures.metrics[CLIENT_NET].count, 0);
    assert_int_equal(own->count, 1);
    assert_int_equal(own->max_ns, 0);
}

/* As NTP does soon after the start of a host. */
static void a_clock_that_was_set_during_the_run_is_read_again(void **state)
{
    const struct hist *service = &figures.metrics[CLIENT_SERVICE];

    (void)state;
    realtime_offset_ns = OFFSET + 2000 * MS;
    subscribe.realtime_offset_ns = realtime_offset_ns; /* fast by 2 s at the start */
    receive_at(span.measure_ns + DELAY);
    realtime_offset_ns = OFFSET;
    receive_at(span.measure_ns + 5000 * MS);
    assert_int_equal(service->count, 1);
    assert_int_equal(service->max_ns, DELAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sender_with_another_clock_is_timed_by_the_dates_of_both,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_lag_beyond_all_times_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(an_arrival_after_its_message_was_read_is_unknown, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_during_the_run_is_read_again, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
