/* SPDX-License-Identifier: MIT
 * tls: see net/tls.h. */
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

static SSL *ssl_of(const struct tls *t)
{
    return (SSL *)(uintptr_t)t;
}

/* --- errors --- */

/* An alert has a byte (RFC 8446, 6); SSL_AD_REASON_OFFSET plus it is the reason of its error. */
enum { N_ALERTS = 256 };

static enum outcome_reason reason_of_certificate(long verify_result)
{
    switch (verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return REASON_CERT_EXPIRED;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return REASON_CERT_NAME;
    default:
        return REASON_CERT_UNTRUSTED;
    }
}

static enum outcome_reason reason_of_alert(int alert)
{
    switch (alert) {
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_INSUFFICIENT_SECURITY:
        return REASON_NO_AGREEMENT;
    default:
        return REASON_ALERT;
    }
}

/* OpenSSL initializes parts of itself when they are first used.  As the context exists already,
 * that fails for lack of memory, of which it does not always say more. */
static bool is_of_memory(int reason)
{
    return reason == ERR_R_MALLOC_FAILURE || reason == ERR_R_INIT_FAIL;
}

static enum outcome_reason reason_of_error(unsigned long code)
{
    const int reason = ERR_GET_REASON(code);

    if (is_of_memory(reason))
        return REASON_MEMORY;
    if (ERR_GET_LIB(code) != ERR_LIB_SSL)
        return REASON_MALFORMED;
    if (reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + N_ALERTS)
        return reason_of_alert(reason - SSL_AD_REASON_OFFSET);
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
        return REASON_NO_AGREEMENT;
    default:
        return REASON_MALFORMED;
    }
}

/* Removes all errors from the queue.  The oldest one is the cause, unless OpenSSL itself failed: a
 * failure such as lack of memory may only show in a later error. */
static enum outcome_reason take_errors(void)
{
    const enum outcome_reason reason = reason_of_error(ERR_peek_error());
    bool no_memory = false, is_own = false;
    unsigned long code;

    while ((code = ERR_get_error()) != 0) {
        no_memory |= is_of_memory(ERR_GET_REASON(code));
        is_own |= ERR_FATAL_ERROR(code) != 0;
    }
    if (no_memory)
        return REASON_MEMORY;
    return is_own && reason == REASON_MALFORMED ? REASON_OTHER : reason;
}

/* The error queue must be empty whenever a function of this file returns. */
static enum tls_status failed(SSL *ssl)
{
    struct tls_worker *w = tls_worker_of(ssl);
    const unsigned long code = ERR_peek_error();

    if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
        ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        w->reason = reason_of_certificate(SSL_get_verify_result(ssl));
        w->text = X509_verify_cert_error_string(SSL_get_verify_result(ssl));
    } else {
        w->text = ERR_reason_error_string(code);
        w->reason = take_errors();
    }
    ERR_clear_error();
    return TLS_FAILED;
}

/* Frees the buffers of 16 KiB in each direction, except one with a partial record.
 * SSL_MODE_RELEASE_BUFFERS would free them after every record, but not during a handshake. */
static enum tls_status free_buffers(SSL *ssl, enum tls_status status)
{
    SSL_free_buffers(ssl);
    return status;
}

/* Called after a failed call. */
static enum tls_status status_of_failed_call(SSL *ssl)
{
    switch (SSL_get_error(ssl, 0)) {
    case SSL_ERROR_WANT_READ:
        return TLS_OK;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_CLOSED;
    default:
        return failed(ssl);
    }
}

/* The handshake is complete: an alert that says otherwise, such as protocol_version, is about a
 * record that was damaged on the path. */
static enum tls_status after_agreement(struct tls_worker *w, enum tls_status status)
{
    if (status == TLS_FAILED && w->reason == REASON_NO_AGREEMENT)
        w->reason = REASON_ALERT;
    return status;
}

/* --- connections --- */

/* Uses a copy: OpenSSL treats a TLS 1.3 ticket as used up after one handshake, and other
 * connections would have none until the next ticket arrives. */
static bool use_ticket(SSL *ssl, SSL_SESSION *ticket)
{
    SSL_SESSION *copy = SSL_SESSION_dup(ticket);
    const bool used = copy != NULL && SSL_set_session(ssl, copy) == 1;

    SSL_SESSION_free(copy);
    return used;
}

static bool begin_as_client(SSL *ssl, const struct tls_worker *w)
{
    const struct tls_context *c = w->context;

    SSL_set_connect_state(ssl);
    if (c->server_name != NULL && SSL_set_tlsext_host_name(ssl, c->server_name) != 1)
        return false;
    return w->ticket == NULL || use_ticket(ssl, w->ticket);
}

struct tls *tls_new(struct tls_worker *w)
{
    SSL *ssl = SSL_new(w->context->ctx);
    BIO *bio = ssl != NULL ? BIO_new(w->context->bio) : NULL;

    if (bio != NULL) {
        BIO_set_data(bio, w);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl, bio, bio);
        if (!w->context->is_client)
            SSL_set_accept_state(ssl);
        if (!w->context->is_client || begin_as_client(ssl, w))
            return (struct tls *)ssl;
    }
    ERR_clear_error();
    SSL_free(ssl);
    return NULL;
}

/* OpenSSL would not resume a session that ended without close_notify; TLS allows it since 1.1 (RFC
 * 5246, 7.2.1), and many connections here end with a reset. */
void tls_free(struct tls *t)
{
    if (t != NULL && tls_is_established(t))
        SSL_set_shutdown(ssl_of(t), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_of(t));
}

enum tls_status tls_start(struct tls *t)
{
    SSL *ssl = ssl_of(t);

    return free_buffers(ssl, SSL_do_handshake(ssl) == 1 ? TLS_OK : status_of_failed_call(ssl));
}

enum tls_status tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                            size_t *n_plain)
{
    const size_t room = n + TLS_RECORD_BYTES;
    const bool had_agreed = tls_is_established(t); /* OpenSSL forgets it with a failure */
    SSL *ssl = ssl_of(t);
    struct tls_worker *w = tls_worker_of(ssl);
    enum tls_status status;
    size_t n_read;

    w->in = data;
    w->n_in = n;
    *n_plain = 0;
    do {
        if (SSL_read_ex(ssl, plain + *n_plain, room - *n_plain, &n_read) != 1) {
            w->n_in = 0; /* bytes after the end do not belong to the next connection */
            status = free_buffers(ssl, status_of_failed_call(ssl));
            return had_agreed ? after_agreement(w, status) : status;
        }
        *n_plain += n_read;
    } while (w->n_in > 0 || SSL_has_pending(ssl));
    return free_buffers(ssl, TLS_OK);
}

enum tls_status tls_send(struct tls *t, const uint8_t *plain, size_t n)
{
    SSL *ssl = ssl_of(t);
    size_t n_written;

    return free_buffers(ssl, SSL_write_ex(ssl, plain, n, &n_written) == 1 ? TLS_OK : failed(ssl));
}

void tls_end(struct tls *t)
{
    if (!tls_is_established(t))
        return;
    SSL_shutdown(ssl_of(t));
    ERR_clear_error();
}

bool tls_is_ended_by_peer(const struct tls *t)
{
    return SSL_get_shutdown(ssl_of(t)) & SSL_RECEIVED_SHUTDOWN;
}

bool tls_is_established(const struct tls *t)
{
    return SSL_is_init_finished(ssl_of(t));
}

bool tls_is_resumed(const struct tls *t)
{
    return SSL_session_reused(ssl_of(t));
}

const char *tls_version(const struct tls *t)
{
    return SSL_get_version(ssl_of(t));
}

const char *tls_cipher(const struct tls *t)
{
    return SSL_get_cipher_name(ssl_of(t));
}
