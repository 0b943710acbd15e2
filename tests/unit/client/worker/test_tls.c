/* SPDX-License-Identifier: MIT
 * test_tls: a connection whose peer requests replies of TLS itself. */
#include "client/worker/tls.h"

#include "client/worker/events.h"
#include "conn_ops_steps.h"
#include "net/certificate_steps.h"
#include "net/tls_context.h"
#include "net/worker.h"
#include "transport_steps.h"

#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>

/* A backlog may become a little larger than that of the queries: a reply to a key update takes 27
 * bytes. */
enum { QUERIES_BYTES = 250000, KEY_UPDATES = 500, TIMES = 5, SMALL_BYTES = 4096 };

static int ends[2]; /* the connection's, its peer's */
static struct tls_worker peer;
static struct tls *peer_tls;
static uint64_t n_read_bytes;

static void peer_reads(void)
{
    static uint8_t bytes[CLIENT_RECEIVE_BYTES], plain[CLIENT_RECEIVE_BYTES + TLS_RECORD_BYTES];
    ssize_t n;
    size_t n_plain;

    while ((n = recv(ends[1], bytes, sizeof bytes, 0)) > 0) {
        n_read_bytes += (uint64_t)n;
        assert_int_equal(tls_receive(peer_tls, bytes, (size_t)n, plain, &n_plain), TLS_OK);
    }
}

/* The connection reads what its peer has to send. */
static void peer_writes(void)
{
    size_t n_sent = 0;

    while (n_sent < peer.n_out && transport.conns->state != CLIENT_CONN_ENDED) {
        const ssize_t n = send(ends[1], peer.out + n_sent, peer.n_out - n_sent, MSG_NOSIGNAL);

        n_sent += n > 0 ? (size_t)n : 0;
        event_base_loop(transport.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    peer.n_out = 0;
}

static void request_key_updates(void)
{
    SSL *ssl = (SSL *)(uintptr_t)peer_tls;

    for (int i = 0; i < KEY_UPDATES; i++) {
        assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(ssl), 1);
    }
    peer_writes();
}

static struct tls_context *context_of_client(void)
{
    static const struct tls_client_options options = {
        .name = "localhost", .ca_file = cert_file, .min = TLS_MIN_1_3};
    char error[TLS_ERROR_BYTES];

    return tls_client_context(&options, error);
}

static struct tls_context *context_of_peer(void)
{
    const struct tls_server_options options = {cert_file, key_file, TLS_MIN_1_3};
    char error[TLS_ERROR_BYTES];

    return tls_server_context(&options, error);
}

/* A connection after its handshake, with little room in its socket. */
static int setup(void **state)
{
    const int small = SMALL_BYTES;

    (void)state;
    n_read_bytes = 0;
    if (transport_begin(&ignoring_ops, 1) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small) != 0)
        return -1;
    config.tls = context_of_client();
    tls_worker_init(&peer, context_of_peer());
    peer_tls = tls_new(&peer);
    if (client_tls_init(&transport) != 0)
        return -1;
    client_conn_begin(transport.conns, &transport);
    client_events_open(transport.conns, ends[0]);
    while (transport.conns->state != CLIENT_CONN_LIVE) {
        peer_reads();
        peer_writes();
    }
    peer_reads();
    n_read_bytes = 0;
    return 0;
}

static int teardown(void **state)
{
    struct tls_context *of_peer = peer.context;

    (void)state;
    client_conn_close(transport.conns, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    close(ends[1]);
    tls_free(peer_tls);
    tls_worker_free(&peer);
    client_tls_free(&transport);
    transport_end();
    tls_context_free(of_peer);
    tls_context_free(config.tls);
    return 0;
}

static void send_queries(void)
{
    static const uint8_t queries[QUERIES_BYTES];

    assert_int_equal(client_conn_send(transport.conns, queries, sizeof queries), 0);
}

static void a_peer_that_reads_gets_its_replies(void **state)
{
    (void)state;
    send_queries();
    for (int i = 0; i <= TIMES; i++) {
        do {
            peer_reads();
            event_base_loop(transport.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        } while (transport.conns->backlog != NULL);
        if (i < TIMES)
            request_key_updates();
    }
    peer_reads();
    assert_int_equal(transport.conns->state, CLIENT_CONN_LIVE);
    assert_true(n_read_bytes > QUERIES_BYTES + TIMES * KEY_UPDATES * 27);
}

static void a_peer_that_reads_nothing_does_not_get_them_kept_without_limit(void **state)
{
    (void)state;
    send_queries();
    assert_int_equal(transport.conns->state, CLIENT_CONN_LIVE);
    for (int i = 0; i < TIMES; i++)
        request_key_updates();
    assert_int_equal(transport.conns->state, CLIENT_CONN_ENDED);
    assert_int_equal(tally_get(&figures.tally.connections.ended[PHASE_SEND][REASON_OTHER]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_peer_that_reads_gets_its_replies, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_peer_that_reads_nothing_does_not_get_them_kept_without_limit, setup, teardown),
    };

    worker_take_messages();
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
