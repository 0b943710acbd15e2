/* SPDX-License-Identifier: MIT
 * test_conn_tcp: what a connection counts of what TCP says about it.
 * Linked with --wrap=sock_tcp. */
#include "client/worker/conn.h"

#include "conn_ops_steps.h"
#include "net/sock.h"
#include "transport_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ull

static const struct outcome closed_by_peer = {PHASE_RECEIVE, REASON_PEER};
static struct sock_tcp said;
static struct client_conn *c;

struct sock_tcp __wrap_sock_tcp(int fd);

struct sock_tcp __wrap_sock_tcp(int fd)
{
    (void)fd;
    return said;
}

/* A connection without a socket, which is to be proven. */
static int setup(void **state)
{
    (void)state;
    said = (struct sock_tcp){.unheard_ms = 0};
    if (transport_begin(&ignoring_ops, 1) != 0)
        return -1;
    c = transport.conns;
    client_conn_begin(c, &transport);
    c->socket.fd = -1;
    c->state = CLIENT_CONN_PROVING;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_conn_close(c, closed_by_peer, 0);
    transport_end();
    return 0;
}

/* A query sent at 1 s times out; the last data came this long after it. */
static void time_out(unsigned heard_ms)
{
    said.unheard_ms = 100 - heard_ms;
    client_conn_unheard(c, 1000 * MS, 1100 * MS);
}

static void data_of_the_same_tick_were_there_before(void **state)
{
    (void)state;
    time_out(5);
    assert_int_equal(c->n_unheard, 1);
    time_out(20);
    assert_int_equal(c->n_unheard, 1); /* heard since */
    time_out(9);
    assert_int_equal(c->n_unheard, 2);
}

static void retransmits_while_it_opens_are_told_from_needless_ones(void **state)
{
    const struct tally *t = &figures.tally;

    (void)state;
    said = (struct sock_tcp){.retransmits = 5, .duplicates = 2};
    client_conn_close(c, closed_by_peer, 0);
    assert_int_equal(tally_get(&t->connections.retransmits), 5);
    assert_int_equal(tally_get(&t->connections.with_retransmits), 1);
    assert_int_equal(tally_get(&t->connections.needless_retransmits), 2);
    assert_int_equal(tally_get(&t->connections.opening_retransmits), 3);
}

static void retransmits_of_a_usable_connection_are_not_of_its_opening(void **state)
{
    const struct tally *t = &figures.tally;

    (void)state;
    client_conn_mark_proven(c);
    assert_int_equal(c->state, CLIENT_CONN_LIVE);
    said = (struct sock_tcp){.retransmits = 5};
    client_conn_close(c, closed_by_peer, 0);
    assert_int_equal(tally_get(&t->connections.retransmits), 5);
    assert_int_equal(tally_get(&t->connections.opening_retransmits), 0);
}

static void a_connection_that_is_lost_was_idle_since_its_last_data(void **state)
{
    (void)state;
    client_conn_mark_proven(c);
    said = (struct sock_tcp){.idle_ms = 7, .unsent_ms = 9};
    client_conn_close(c, closed_by_peer, 0);
    assert_int_equal(figures.losses.idle_us.count, 1);
    assert_int_equal(losses_median_idle_ns(&figures.losses), 7 * MS);
}

static void a_connection_that_was_never_answered_is_not_lost(void **state)
{
    (void)state;
    client_conn_close(c, closed_by_peer, 0);
    assert_int_equal(figures.losses.idle_us.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(data_of_the_same_tick_were_there_before),
        TEST(retransmits_while_it_opens_are_told_from_needless_ones),
        TEST(retransmits_of_a_usable_connection_are_not_of_its_opening),
        TEST(a_connection_that_is_lost_was_idle_since_its_last_data),
        TEST(a_connection_that_was_never_answered_is_not_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
