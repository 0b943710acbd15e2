/* SPDX-License-Identifier: MIT
 * test_conn: a slot is free only after its closed connection was taken from the queue. */
#include "client/worker/conn.h"

#include "transport_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N_CONNS = 3 };

static const struct outcome no_port = {PHASE_BIND, REASON_PORTS};
static const struct outcome cancelled = {PHASE_RUN, REASON_CANCELLED};

static int n_ended;

static void on_ended(void *owner, struct client_conn *c, struct outcome outcome)
{
    (void)outcome;
    assert_ptr_equal(owner, &transport);
    assert_int_equal(c->state, CLIENT_CONN_ENDED);
    assert_false(client_conn_is_free(c));
    n_ended++;
}

static const struct client_conn_ops ops = {.ended = on_ended};

static int setup(void **state)
{
    (void)state;
    n_ended = 0;
    return transport_begin(&ops, N_CONNS);
}

static int teardown(void **state)
{
    (void)state;
    transport_end();
    return 0;
}

static uint64_t n_outcomes(struct outcome outcome)
{
    return tally_get(&figures.tally.connections.ended[outcome.phase][outcome.reason]);
}

/* Opens a connection without a socket and closes it as failed. */
static void begin_and_fail(uint32_t slot, struct outcome outcome)
{
    client_conn_begin(&transport.conns[slot], &transport);
    client_conn_fail(&transport.conns[slot], outcome, 0);
}

static void a_slot_is_free_when_its_end_was_taken_from_the_queue(void **state)
{
    struct client_conn *c = &transport.conns[1];
    struct outcome outcome;

    (void)state;
    assert_true(client_conn_is_free(c));
    begin_and_fail(1, no_port);
    assert_false(client_conn_is_free(c));
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), c);
    assert_int_equal(outcome.phase, no_port.phase);
    assert_int_equal(outcome.reason, no_port.reason);
    assert_true(client_conn_is_free(c));
    assert_null(client_conn_take_ended(&transport, &outcome));
}

static void ends_are_taken_in_their_order(void **state)
{
    static const uint32_t order[] = {2, 0, 1};
    struct outcome outcome;

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < N_CONNS; i++)
            begin_and_fail(order[i], i == 1 ? cancelled : no_port);
        for (size_t i = 0; i < N_CONNS; i++) {
            assert_ptr_equal(client_conn_take_ended(&transport, &outcome),
                             &transport.conns[order[i]]);
            assert_int_equal(outcome.reason, i == 1 ? REASON_CANCELLED : REASON_PORTS);
        }
    }
    assert_null(client_conn_take_ended(&transport, &outcome));
}

static void an_end_while_others_are_taken_is_taken_too(void **state)
{
    struct outcome outcome;

    (void)state;
    begin_and_fail(0, no_port);
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), &transport.conns[0]);
    begin_and_fail(0, cancelled);
    begin_and_fail(2, no_port);
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), &transport.conns[0]);
    assert_int_equal(outcome.reason, REASON_CANCELLED);
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), &transport.conns[2]);
    assert_null(client_conn_take_ended(&transport, &outcome));
}

static void a_connection_that_is_closed_twice_ends_once(void **state)
{
    struct outcome outcome;

    (void)state;
    begin_and_fail(0, no_port);
    client_conn_close(&transport.conns[0], cancelled, 0);
    assert_int_equal(n_ended, 1);
    assert_int_equal(n_outcomes(no_port), 1);
    assert_int_equal(n_outcomes(cancelled), 0);
    assert_non_null(client_conn_take_ended(&transport, &outcome));
    assert_null(client_conn_take_ended(&transport, &outcome));
}

/* Whatever the previous connection was. */
static void a_slot_begins_anew(void **state)
{
    struct client_conn *c = &transport.conns[0];
    struct outcome outcome;

    (void)state;
    begin_and_fail(0, no_port);
    assert_ptr_equal(client_conn_take_ended(&transport, &outcome), c);
    c->proven = c->replaces = c->opens_slowly = c->timed_out = true;
    c->awaits_room = c->record_lost = c->owes_earlier = true;
    client_conn_begin(c, &transport);
    assert_false(c->proven || c->replaces || c->opens_slowly || c->timed_out);
    assert_false(c->awaits_room || c->record_lost || c->owes_earlier);
    client_conn_fail(c, no_port, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slot_is_free_when_its_end_was_taken_from_the_queue, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(ends_are_taken_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_while_others_are_taken_is_taken_too, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_connection_that_is_closed_twice_ends_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_slot_begins_anew, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
