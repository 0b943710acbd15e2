/* SPDX-License-Identifier: MIT
 * tls_worker: see net/tls_worker.h.  The structure behind the BIO belongs to the worker, so a
 * connection needs no buffer of its own. */
#include "net/tls_worker.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

/* Initial size, enough for a handshake or the queries of a turn. */
enum { FIRST_OUT_BYTES = 16384 };

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

BIO_METHOD *tls_worker_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "worker");

    if (method != NULL) {
        BIO_meth_set_read(method, on_read);
        BIO_meth_set_write(method, on_write);
        BIO_meth_set_ctrl(method, on_control);
    }
    return method;
}

struct tls_worker *tls_worker_of(const SSL *ssl)
{
    return BIO_get_data(SSL_get_rbio(ssl));
}

int tls_worker_keep_ticket(SSL *ssl, SSL_SESSION *session)
{
    struct tls_worker *w = tls_worker_of(ssl);

    SSL_SESSION_free(w->ticket);
    w->ticket = session;
    return 1;
}

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
