/* SPDX-License-Identifier: MIT
 * tls: see tls.h.  OpenSSL reads from and writes to memory through a BIO of our own; the structure
 * behind it is the worker's, so that a connection has no buffer of its own. */
#include "tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a handshake or a turn's queries need at first. */
enum { FIRST_OUT_BYTES = 16384 };

struct tls_context {
    SSL_CTX *ctx;
    BIO_METHOD *bio;
    char *server_name; /* for SNI; NULL: none */
    bool is_client, resume;
};

static SSL *ssl_of(const struct tls *t)
{
    return (SSL *)(uintptr_t)t;
}

static struct tls_worker *worker_of(const SSL *ssl)
{
    return BIO_get_data(SSL_get_rbio(ssl));
}

/* --- the BIO --- */

static int on_read(BIO *bio, char *data, int room)
{
    struct tls_worker *w = BIO_get_data(bio);
    const size_t n = w->n_in < (size_t)room ? w->n_in : (size_t)room;

    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(data, w->in, n);
    w->in += n;
    w->n_in -= n;
    return (int)n;
}

static int make_room(struct tls_worker *w, size_t n)
{
    size_t room = w->out_room > 0 ? w->out_room : FIRST_OUT_BYTES;
    uint8_t *out;

    while (room - w->n_out < n)
        room *= 2;
    if (room == w->out_room)
        return 0;
    out = realloc(w->out, room);
    if (out == NULL)
        return -1;
    w->out = out;
    w->out_room = room;
    return 0;
}

static int on_write(BIO *bio, const char *data, int n)
{
    struct tls_worker *w = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (make_room(w, (size_t)n) != 0) {
        ERR_raise(ERR_LIB_BIO, ERR_R_MALLOC_FAILURE);
        return -1;
    }
    memcpy(w->out + w->n_out, data, (size_t)n);
    w->n_out += (size_t)n;
    return n;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "worker");

    if (method != NULL) {
        BIO_meth_set_read(method, on_read);
        BIO_meth_set_write(method, on_write);
        BIO_meth_set_ctrl(method, on_control);
    }
    return method;
}

/* --- what went wrong --- */

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

static enum outcome_reason reason_of_error(unsigned long code)
{
    const int reason = ERR_GET_REASON(code);

    if (reason == ERR_R_MALLOC_FAILURE)
        return REASON_MEMORY;
    if (ERR_GET_LIB(code) != ERR_LIB_SSL)
        return REASON_MALFORMED;
    if (reason >= SSL_AD_REASON_OFFSET)
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

/* The error queue is empty whenever this part is left. */
static enum tls_status failed(SSL *ssl)
{
    struct tls_worker *w = worker_of(ssl);
    const unsigned long code = ERR_peek_error();

    if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
        ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        w->reason = reason_of_certificate(SSL_get_verify_result(ssl));
        w->text = X509_verify_cert_error_string(SSL_get_verify_result(ssl));
    } else {
        w->reason = reason_of_error(code);
        w->text = ERR_reason_error_string(code);
    }
    ERR_clear_error();
    return TLS_FAILED;
}

/* Gives back the buffers of 16 KiB in each direction, but for one that holds a part of a record.
 * SSL_MODE_RELEASE_BUFFERS would do that after every record, and not in a handshake. */
static enum tls_status rest(SSL *ssl, enum tls_status status)
{
    SSL_free_buffers(ssl);
    return status;
}

/* After a call that did not succeed. */
static enum tls_status conclude(SSL *ssl)
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

/* --- contexts --- */

/* The latest error in words; of a file it is errno's. */
static const char *error_text(void)
{
    const unsigned long code = ERR_peek_error();
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    ERR_clear_error();
    return text != NULL ? text : "not accepted";
}

/* A key behind a passphrase: nobody is there to be asked for it. */
static int no_passphrase(char *buffer, int room, int writes, void *arg)
{
    (void)buffer;
    (void)room;
    (void)writes;
    (void)arg;
    return -1;
}

static int keep_ticket(SSL *ssl, SSL_SESSION *session)
{
    struct tls_worker *w = worker_of(ssl);

    SSL_SESSION_free(w->ticket);
    w->ticket = session;
    return 1;
}

static struct tls_context *context_new(const SSL_METHOD *method, int min)
{
    struct tls_context *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->ctx = SSL_CTX_new(method);
    c->bio = bio_method_new();
    if (c->ctx == NULL || c->bio == NULL) {
        tls_context_free(c);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(c->ctx, min == TLS_MIN_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_read_ahead(c->ctx, 1);
    SSL_CTX_set_default_passwd_cb(c->ctx, no_passphrase);
    return c;
}

void tls_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_CTX_free(context->ctx);
    BIO_meth_free(context->bio);
    free(context->server_name);
    free(context);
}

static void append(char *list, const char *name, size_t n)
{
    const size_t before = strlen(list);

    snprintf(list + before, n + 2, "%s%.*s", before > 0 ? ":" : "", (int)n, name);
}

/* Parts the names of TLS 1.3, which begin with TLS_, from those of TLS 1.2. */
static int set_parted(SSL_CTX *ctx, const char *ciphers, char *suites, char *others)
{
    for (const char *name = ciphers; *name != '\0';) {
        const size_t n = strcspn(name, ":");

        append(strncmp(name, "TLS_", 4) == 0 ? suites : others, name, n);
        name += n + (name[n] == ':');
    }
    if (*others == '\0' && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1)
        return -1;
    if (*suites == '\0' && (SSL_CTX_get_min_proto_version(ctx) == TLS1_3_VERSION ||
                            SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) != 1))
        return -1;
    return (*suites == '\0' || SSL_CTX_set_ciphersuites(ctx, suites) == 1) &&
                   (*others == '\0' || SSL_CTX_set_cipher_list(ctx, others) == 1)
               ? 0
               : -1;
}

static int set_ciphers(SSL_CTX *ctx, const char *ciphers)
{
    const size_t room = strlen(ciphers) + 2;
    char *suites = calloc(1, room), *others = calloc(1, room);
    const int result =
        suites != NULL && others != NULL ? set_parted(ctx, ciphers, suites, others) : -1;

    free(suites);
    free(others);
    return result;
}

/* An address cannot be asked for by SNI (RFC 6066, 3). */
static int set_name(struct tls_context *c, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(c->ctx);

    if (X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1)
        return 0;
    ERR_clear_error();
    c->server_name = strdup(name);
    return c->server_name != NULL && X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 ? 0 : -1;
}

/* What OpenSSL notes of a certificate when it first looks at it: now, and not in the threads. */
static void look_at_authorities(SSL_CTX *ctx)
{
    const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));

    for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
        X509 *x = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));

        if (x != NULL)
            X509_check_purpose(x, -1, 0);
    }
    ERR_clear_error();
}

static int set_alpn(SSL_CTX *ctx, const char *protocol)
{
    uint8_t list[256];
    const size_t n = strlen(protocol);

    list[0] = (uint8_t)n;
    memcpy(list + 1, protocol, n);
    return SSL_CTX_set_alpn_protos(ctx, list, (unsigned)n + 1); /* 0: it succeeded */
}

static int configure_client(struct tls_context *c, const struct tls_client_options *o, char *error)
{
    SSL_CTX *ctx = c->ctx;

    if (o->ciphers != NULL && set_ciphers(ctx, o->ciphers) != 0) {
        ERR_clear_error();
        snprintf(error, TLS_ERROR_BYTES,
                 "--tls-ciphers: '%.80s': accepted are OpenSSL's names of ciphers of the versions "
                 "from --tls-min on, ':' between them",
                 o->ciphers);
        return -1;
    }
    SSL_CTX_set_verify(ctx, o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (o->ca_file != NULL ? SSL_CTX_load_verify_locations(ctx, o->ca_file, NULL) != 1
                           : SSL_CTX_set_default_verify_paths(ctx) != 1) {
        snprintf(error, TLS_ERROR_BYTES, "--tls-ca: cannot read '%.80s': %.80s",
                 o->ca_file != NULL ? o->ca_file : "the system's", error_text());
        return -1;
    }
    look_at_authorities(ctx);
    if (set_name(c, o->name) != 0 || (o->alpn != NULL && set_alpn(ctx, o->alpn) != 0)) {
        snprintf(error, TLS_ERROR_BYTES, "--tls-name: '%.80s': %.80s", o->name, error_text());
        return -1;
    }
    SSL_CTX_set_session_cache_mode(
        ctx, o->resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (o->resume)
        SSL_CTX_sess_set_new_cb(ctx, keep_ticket);
    else
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    return 0;
}

struct tls_context *tls_client_context(const struct tls_client_options *options, char *error)
{
    struct tls_context *c = context_new(TLS_client_method(), options->min);

    if (c == NULL) {
        snprintf(error, TLS_ERROR_BYTES, "--tls: %.80s", error_text());
        return NULL;
    }
    c->is_client = true;
    c->resume = options->resume;
    if (configure_client(c, options, error) == 0)
        return c;
    tls_context_free(c);
    return NULL;
}

static int configure_server(SSL_CTX *ctx, const struct tls_server_options *o, char *error)
{
    const char *option = "--tls-cert", *file = o->cert_file;

    if (SSL_CTX_use_certificate_chain_file(ctx, o->cert_file) == 1) {
        option = "--tls-key";
        file = o->key_file;
        if (SSL_CTX_use_PrivateKey_file(ctx, o->key_file, SSL_FILETYPE_PEM) == 1 &&
            SSL_CTX_check_private_key(ctx) == 1)
            return 0;
    }
    snprintf(error, TLS_ERROR_BYTES, "%s: cannot use '%.80s': %.80s", option, file, error_text());
    return -1;
}

/* A ticket holds the session itself: nothing is kept here for one that may never come back. */
struct tls_context *tls_server_context(const struct tls_server_options *options, char *error)
{
    struct tls_context *c = context_new(TLS_server_method(), options->min);

    if (c == NULL) {
        snprintf(error, TLS_ERROR_BYTES, "--tls-cert: %.80s", error_text());
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(c->ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(c->ctx, 1);
    if (configure_server(c->ctx, options, error) == 0)
        return c;
    tls_context_free(c);
    return NULL;
}

const char *tls_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}

/* --- connections --- */

void tls_worker_init(struct tls_worker *w, struct tls_context *context)
{
    *w = (struct tls_worker){.context = context};
}

void tls_worker_free(struct tls_worker *w)
{
    SSL_SESSION_free(w->ticket);
    free(w->out);
    *w = (struct tls_worker){0};
}

/* A copy: OpenSSL takes a ticket of TLS 1.3 for used up after one handshake, and until the next one
 * comes every other connection would be without. */
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

/* OpenSSL would not resume a session that ended without close_notify; since TLS 1.1 one may (RFC
 * 5246, 7.2.1), and many a connection here ends by a reset. */
void tls_free(struct tls *t)
{
    if (t != NULL && tls_is_established(t))
        SSL_set_shutdown(ssl_of(t), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_of(t));
}

enum tls_status tls_start(struct tls *t)
{
    SSL *ssl = ssl_of(t);

    return rest(ssl, SSL_do_handshake(ssl) == 1 ? TLS_OK : conclude(ssl));
}

enum tls_status tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                            size_t *n_plain)
{
    const size_t room = n + TLS_RECORD_BYTES;
    SSL *ssl = ssl_of(t);
    struct tls_worker *w = worker_of(ssl);
    size_t n_read;

    w->in = data;
    w->n_in = n;
    *n_plain = 0;
    do {
        if (SSL_read_ex(ssl, plain + *n_plain, room - *n_plain, &n_read) != 1)
            return rest(ssl, conclude(ssl));
        *n_plain += n_read;
    } while (w->n_in > 0 || SSL_has_pending(ssl));
    return rest(ssl, TLS_OK);
}

enum tls_status tls_send(struct tls *t, const uint8_t *plain, size_t n)
{
    SSL *ssl = ssl_of(t);
    size_t n_written;

    return rest(ssl, SSL_write_ex(ssl, plain, n, &n_written) == 1 ? TLS_OK : failed(ssl));
}

void tls_end(struct tls *t)
{
    if (!tls_is_established(t))
        return;
    SSL_shutdown(ssl_of(t));
    ERR_clear_error();
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
