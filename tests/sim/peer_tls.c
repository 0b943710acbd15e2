/* SPDX-License-Identifier: MIT
 * peer_tls: see peer_tls.h. */
#include "peer_tls.h"

#include "memory.h"
#include "tcp.h"
#include "tls_setup.h"
#include "violation.h"
#include "world.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { RECORD_BYTES = 16384 };

/* Grows. */
struct buffer {
    uint8_t *data;
    size_t n_bytes, room;
};

static struct buffer plain, sealed;
static SSL_SESSION *ticket; /* the latest */

static void make_room(struct buffer *b, size_t n_bytes)
{
    if (b->room - b->n_bytes >= n_bytes)
        return;
    b->room = 2 * (b->n_bytes + n_bytes);
    b->data = memory_own(b->data, b->room);
}

void peer_tls_begin(void)
{
    SSL_SESSION_free(ticket);
    ticket = NULL;
}

int peer_tls_keep_ticket(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    SSL_SESSION_free(ticket);
    ticket = session;
    return 1;
}

/* A copy: OpenSSL takes a ticket of TLS 1.3 as used up after one handshake. */
static void use_ticket(SSL *ssl)
{
    SSL_SESSION *copy = ticket != NULL ? SSL_SESSION_dup(ticket) : NULL;

    if (copy != NULL)
        SSL_set_session(ssl, copy);
    SSL_SESSION_free(copy);
}

void peer_tls_open(uint32_t i, bool is_server)
{
    const struct scenario *s = &world.scenario;
    SSL *ssl = SSL_new(tls_setup_other(is_server));

    LAW(ssl != NULL, "the simulation's TLS");
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (s->tls == 2)
        SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
    if (is_server) {
        SSL_set_num_tickets(ssl, s->tls_tickets);
        SSL_set_accept_state(ssl);
    } else {
        SSL_set_connect_state(ssl);
        if (s->tls_resume)
            use_ticket(ssl);
    }
    tcp_at(i)->peer.tls = ssl;
}

/* OpenSSL would not resume a session that ended without close_notify. */
void peer_tls_close(uint32_t i)
{
    struct tcp_peer *p = &tcp_at(i)->peer;

    if (p->tls == NULL)
        return;
    SSL_set_shutdown(p->tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(p->tls);
    p->tls = NULL;
}

/* After a call that did not succeed. */
static void check_error(const struct tcp *t, int result)
{
    const int error = SSL_get_error(t->peer.tls, result);

    LAW(error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN || t->peer.is_hostile,
        "fd %d: the peer cannot read it: %s", t->fd, ERR_reason_error_string(ERR_peek_error()));
    ERR_clear_error();
}

size_t peer_tls_take(uint32_t i, const uint8_t *data, size_t n_bytes, const uint8_t **out)
{
    const struct tcp *t = tcp_at(i);
    size_t n;
    int result;

    plain.n_bytes = 0;
    *out = plain.data;
    if (n_bytes > 0)
        BIO_write(SSL_get_rbio(t->peer.tls), data, (int)n_bytes);
    do {
        make_room(&plain, RECORD_BYTES);
        result = SSL_read_ex(t->peer.tls, plain.data + plain.n_bytes, RECORD_BYTES, &n);
        plain.n_bytes += result == 1 ? n : 0;
    } while (result == 1);
    check_error(t, result);
    *out = plain.data;
    return plain.n_bytes;
}

static size_t take_sealed(const struct tcp *t, const uint8_t **out)
{
    BIO *bio = SSL_get_wbio(t->peer.tls);
    const size_t n_bytes = BIO_ctrl_pending(bio);

    sealed.n_bytes = 0;
    make_room(&sealed, n_bytes + 1);
    if (n_bytes > 0)
        BIO_read(bio, sealed.data, (int)n_bytes);
    *out = sealed.data;
    return n_bytes;
}

static void change_keys(SSL *ssl)
{
    if (SSL_version(ssl) == TLS1_3_VERSION)
        SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
    ERR_clear_error();
}

size_t peer_tls_seal(uint32_t i, const uint8_t *data, size_t n_bytes, const uint8_t **out)
{
    struct tcp *t = tcp_at(i);
    size_t n, n_sealed;

    if (n_bytes > 0 && world_chance(world.scenario.key_update_permille))
        change_keys(t->peer.tls);
    if (n_bytes > 0 && SSL_write_ex(t->peer.tls, data, n_bytes, &n) != 1)
        check_error(t, 0);
    n_sealed = take_sealed(t, out);
    if (n_bytes > 0 && n_sealed > 0 && world_chance(world.scenario.damaged_permille)) {
        sealed.data[world_up_to(n_sealed - 1)] ^= 1;
        t->peer.is_hostile = true;
    }
    return n_sealed;
}

size_t peer_tls_seal_end(uint32_t i, const uint8_t **out)
{
    const struct tcp *t = tcp_at(i);

    SSL_shutdown(t->peer.tls);
    ERR_clear_error();
    return take_sealed(t, out);
}

bool peer_tls_is_established(uint32_t i)
{
    return SSL_is_init_finished(tcp_at(i)->peer.tls);
}

bool peer_tls_is_resumed(uint32_t i)
{
    return SSL_session_reused(tcp_at(i)->peer.tls);
}

bool peer_tls_was_ended(uint32_t i)
{
    return (SSL_get_shutdown(tcp_at(i)->peer.tls) & SSL_RECEIVED_SHUTDOWN) != 0;
}
