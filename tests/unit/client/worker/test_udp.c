/* SPDX-License-Identifier: MIT
 * test_udp: a connection writes queries as datagrams and passes on datagrams as answers. */
#include "client/worker/udp.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "stamp_steps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_PASSED = 64, ENDLESS = 1 << 16 };

#define S 1000000000ull

static const uint8_t queries[] = {0, 3, 'a', 'b', 'c', 0, 1, 'd'};

static struct client_config config;
static struct client_figures figures;
static struct client_transport transport;
static int ends[2]; /* the connection's, its peer's */
static uint8_t passed[MOST_PASSED][8];
static unsigned n_passed, closes_after;
static unsigned n_refills;  /* datagrams that the peer sends as soon as one was read */
static uint64_t arrived_ns; /* of the datagram passed last */

static void on_data(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                    uint64_t received_ns)
{
    (void)owner;
    if (n_refills > 0) {
        n_refills--;
        assert_int_equal(send(ends[1], "", 1, 0), 1);
        return;
    }
    assert_true(received_ns > 0);
    assert_in_range(n_bytes, 2, sizeof *passed);
    assert_in_range(n_passed, 0, MOST_PASSED - 1);
    memcpy(passed[n_passed++], data, n_bytes);
    arrived_ns = transport.arrived_ns;
    if (n_passed == closes_after)
        c->state = CLIENT_CONN_ENDED;
}

static const struct client_conn_ops ops = {.data = on_data};

static struct client_conn *conn(void)
{
    return &transport.conns[1];
}

static int setup(void **state)
{
    (void)state;
    n_passed = closes_after = n_refills = 0;
    figures = (struct client_figures){0};
    config = (struct client_config){.socket.datagrams = true, .connect_timeout_ns = 1000000000};
    transport = (struct client_transport){.config = &config,
                                          .ops = &ops,
                                          .base = event_base_new(),
                                          .figures = &figures,
                                          .n_conns = 2};
    if (transport.base == NULL || client_figures_init(&figures, 2, true, 0) != 0 ||
        client_transport_init(&transport) != 0 || client_udp_init(&transport) != 0 ||
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    conn()->transport = &transport;
    conn()->state = CLIENT_CONN_LIVE;
    conn()->socket.fd = ends[0];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    client_udp_free(&transport);
    client_transport_free(&transport);
    client_figures_free(&figures);
    event_base_free(transport.base);
    return 0;
}

static void nothing_is_allocated_for_tcp(void **state)
{
    struct client_transport other = transport;

    (void)state;
    config.socket.datagrams = false;
    other.udp = NULL;
    other.has_codec = false;
    assert_int_equal(client_udp_init(&other), 0);
    assert_null(other.udp);
    assert_false(other.has_codec);
    client_udp_free(&other);
}

static void queries_lose_their_lengths(void **state)
{
    char datagram[8];

    (void)state;
    assert_int_equal(client_conn_write(conn(), queries, sizeof queries), sizeof queries);
    assert_int_equal(recv(ends[1], datagram, sizeof datagram, 0), 3);
    assert_memory_equal(datagram, "abc", 3);
    assert_int_equal(recv(ends[1], datagram, sizeof datagram, 0), 1);
    assert_memory_equal(datagram, "d", 1);
    assert_int_equal(tally_get(&figures.tally.bytes_sent), 4);
    assert_int_equal(figures.records[1].bytes_sent, 4);
}

static void a_full_socket_takes_whole_queries_in_order(void **state)
{
    enum { N = 4000 };
    static uint8_t many[3 * N];
    uint8_t datagram[8];
    size_t n_taken;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        datagrams_put_length(many + 3 * i, 1);
        many[3 * i + 2] = (uint8_t)i;
    }
    n_taken = (size_t)client_conn_write(conn(), many, sizeof many);
    assert_in_range(n_taken, 3, sizeof many - 3);
    assert_int_equal(n_taken % 3, 0);
    assert_int_equal(client_conn_write(conn(), many + n_taken, sizeof many - n_taken), 0);
    for (unsigned i = 0; i < n_taken / 3; i++) {
        assert_int_equal(recv(ends[1], datagram, sizeof datagram, 0), 1);
        assert_int_equal(datagram[0], (uint8_t)i);
    }
    assert_int_equal(recv(ends[1], datagram, sizeof datagram, 0), -1);
    assert_int_equal(tally_get(&figures.tally.bytes_sent), n_taken / 3);
}

static void a_broken_connection_takes_nothing(void **state)
{
    (void)state;
    close(ends[1]);
    assert_int_equal(client_conn_write(conn(), queries, sizeof queries), -1);
    assert_int_equal(errno, ECONNREFUSED);
    ends[1] = dup(ends[0]);
}

static void send_numbered(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const uint8_t number = (uint8_t)i;

        assert_int_equal(send(ends[1], &number, 1, 0), 1);
    }
}

static void assert_passed(unsigned n)
{
    assert_int_equal(n_passed, n);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t message[] = {0, 1, (uint8_t)i};

        assert_memory_equal(passed[i], message, sizeof message);
    }
}

static void assert_received(unsigned n_bytes)
{
    assert_int_equal(tally_get(&figures.tally.bytes_received), n_bytes);
    assert_int_equal(figures.records[1].bytes_received, n_bytes);
}

/* More than one call takes. */
static void datagrams_become_answers_with_lengths(void **state)
{
    unsigned n;

    (void)state;
    send_numbered(8);
    for (n = 8; n < 2 * DATAGRAMS_MOST_RECEIVED + 1; n++) {
        const uint8_t number = (uint8_t)n;

        if (send(ends[1], &number, 1, 0) < 0)
            break; /* net.unix.max_dgram_qlen */
    }
    assert_int_equal(client_udp_receive(conn(), ends[0]), 0);
    assert_passed(n);
    assert_received(n);
    assert_int_equal(client_udp_receive(conn(), ends[0]), 0);
    assert_passed(n);
}

static void an_empty_datagram_is_no_end(void **state)
{
    (void)state;
    assert_int_equal(send(ends[1], "", 0, 0), 0);
    send_numbered(1);
    assert_int_equal(client_udp_receive(conn(), ends[0]), 0);
    assert_int_equal(n_passed, 2);
    assert_memory_equal(passed[0], "\0\0", 2);
}

static void what_follows_a_close_is_not_passed(void **state)
{
    (void)state;
    closes_after = 2;
    send_numbered(5);
    assert_int_equal(client_udp_receive(conn(), ends[0]), 0);
    assert_passed(2);
    assert_received(5);
}

static void a_broken_connection_passes_what_it_has(void **state)
{
    (void)state;
    send_numbered(5);
    transport.arrived_ns = 1; /* of a socket that is being read */
    client_udp_receive_rest(conn(), ends[0]);
    assert_passed(5);
    assert_received(5);
    assert_int_equal(transport.arrived_ns, 1);
}

static void a_broken_connection_that_never_stops_receiving_is_left(void **state)
{
    (void)state;
    send_numbered(1);
    n_refills = ENDLESS;
    client_udp_receive_rest(conn(), ends[0]);
    assert_in_range(n_refills, 1, ENDLESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Sets ends[] to UDP sockets of this host that are connected to each other. */
static void connect_by_udp(void)
{
    struct sockaddr_in address[2];
    socklen_t length = sizeof *address;

    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        address[i] =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        assert_int_equal(bind(ends[i], (struct sockaddr *)&address[i], sizeof *address), 0);
        assert_int_equal(getsockname(ends[i], (struct sockaddr *)&address[i], &length), 0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(connect(ends[i], (struct sockaddr *)&address[1 - i], length), 0);
}

/* The peer's host refuses what is sent after the peer has closed. */
static void answers_behind_an_error_are_passed(void **state)
{
    struct pollfd refused;

    (void)state;
    connect_by_udp();
    assert_int_equal(send(ends[1], "ab", 2, 0), 2);
    assert_int_equal(send(ends[1], "c", 1, 0), 1);
    close(ends[1]);
    ends[1] = -1;
    refused = (struct pollfd){.fd = ends[0]};
    assert_int_equal(send(ends[0], "x", 1, 0), 1);
    assert_int_equal(poll(&refused, 1, 10000), 1);
    assert_true(refused.revents & POLLERR);
    client_udp_receive_rest(conn(), ends[0]);
    assert_int_equal(n_passed, 2);
    assert_memory_equal(passed[0], "\0\2ab", 4);
    assert_memory_equal(passed[1], "\0\1c", 3);
}

static void what_is_left_of_a_broken_connection_is_timestamped(void **state)
{
    const uint64_t before_ns = clock_now_ns();

    (void)state;
    config.socket.stamp_received = true;
    send_numbered(1);
    client_udp_receive_rest(conn(), ends[0]);
    assert_passed(1);
    assert_in_range(arrived_ns, before_ns - S, clock_now_ns() + S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_allocated_for_tcp),
        TEST(queries_lose_their_lengths),
        TEST(a_full_socket_takes_whole_queries_in_order),
        TEST(a_broken_connection_takes_nothing),
        TEST(datagrams_become_answers_with_lengths),
        TEST(an_empty_datagram_is_no_end),
        TEST(what_follows_a_close_is_not_passed),
        TEST(a_broken_connection_passes_what_it_has),
        TEST(a_broken_connection_that_never_stops_receiving_is_left),
        TEST(answers_behind_an_error_are_passed),
        TEST(what_is_left_of_a_broken_connection_is_timestamped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
