/* SPDX-License-Identifier: MIT
 * test_conns: which connections are the oldest, however many came and went since they began, and
 * which have ended. */
#include "server/conns.h"

#include "server/service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 4 };

static struct server_config config;
static struct server_conns conns;
static uint8_t buffer[SERVER_BUFFER_BYTES];
static int peers[N];

static void on_ended(void *context)
{
    (void)context;
}

/* As if this many had begun before. */
static void open_connection(int i, uint64_t serial)
{
    static const struct srcplan_tuple peer = {.address.family = AF_UNSPEC};
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    conns.next_serial = serial;
    assert_int_equal(server_service_open(&conns, ends[0], 0, &peer), 0);
    config.n_active++;
    peers[i] = ends[1];
}

static bool is_closed(int peer)
{
    char byte;

    return recv(peer, &byte, 1, 0) == 0;
}

static void begin(void)
{
    config = (struct server_config){0};
    conns = (struct server_conns){
        .config = &config, .base = event_base_new(), .buffer = buffer, .ended = on_ended};
    assert_non_null(conns.base);
    assert_int_equal(poller_init(&conns.poller, conns.base), 0);
}

static void end(void)
{
    server_conns_free(&conns);
    event_base_free(conns.base);
}

static void assert_closed_in_order(const uint64_t serials[N])
{
    begin();
    for (int i = 0; i < N; i++)
        open_connection(i, serials[i]);
    for (int i = 0; i < N; i++) {
        assert_int_equal(server_conns_close_oldest(&conns, 1), 1);
        for (int j = 0; j < N; j++)
            assert_int_equal(is_closed(peers[j]), j <= i);
    }
    for (int i = 0; i < N; i++)
        close(peers[i]);
    end();
}

static void the_oldest_are_closed_first(void **state)
{
    static const uint64_t cases[][N] = {
        {0, 1, 2, 3},
        {5, 1ull << 30, 5ull << 29, 1ull << 33},
        {0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001},
        {0xfffffffe, 0xffffffff, 0x100000000, 0x100000001},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_closed_in_order(cases[i]);
}

/* The third one uses the slot of the first one. */
static void a_connection_in_a_used_slot_is_younger(void **state)
{
    (void)state;
    begin();
    open_connection(0, conns.next_serial);
    open_connection(1, conns.next_serial);
    assert_int_equal(server_conns_close_oldest(&conns, 1), 1);
    open_connection(2, conns.next_serial);
    assert_int_equal(server_conns_close_oldest(&conns, 1), 1);
    assert_true(is_closed(peers[1]));
    assert_false(is_closed(peers[2]));
    end();
    for (int i = 0; i < 3; i++)
        close(peers[i]);
}

static void more_than_there_are_are_all(void **state)
{
    (void)state;
    begin();
    assert_int_equal(server_conns_close_oldest(&conns, 1), 0);
    open_connection(0, 7);
    assert_int_equal(server_conns_close_oldest(&conns, UINT32_MAX), 1);
    assert_int_equal(tally_get(&conns.tally.closed[PHASE_RUN][REASON_FINISHED]), 1);
    close(peers[0]);
    end();
}

/* What was sent before the end of its peer is answered; the others stay open. */
static void those_closed_by_their_peers_are_read_to_the_end(void **state)
{
    char answer[8];

    (void)state;
    begin();
    for (int i = 0; i < 3; i++)
        open_connection(i, conns.next_serial);
    conns.blocks[0][2].held = calloc(1, sizeof(struct server_held)); /* it has bytes to send */
    assert_int_equal(write(peers[0], "abc", 3), 3);
    assert_int_equal(shutdown(peers[0], SHUT_WR), 0);
    assert_int_equal(shutdown(peers[2], SHUT_WR), 0);
    server_conns_close_ended(&conns);
    assert_int_equal(recv(peers[0], answer, sizeof answer, 0), 3);
    assert_true(is_closed(peers[0]));
    assert_false(is_closed(peers[1]));
    assert_false(is_closed(peers[2]));
    assert_int_equal(tally_get(&conns.tally.n_closed), 1);
    assert_int_equal(tally_get(&conns.tally.closed[PHASE_RECEIVE][REASON_PEER]), 1);
    end();
    for (int i = 0; i < 3; i++)
        close(peers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_are_closed_first),
        cmocka_unit_test(a_connection_in_a_used_slot_is_younger),
        cmocka_unit_test(more_than_there_are_are_all),
        cmocka_unit_test(those_closed_by_their_peers_are_read_to_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
