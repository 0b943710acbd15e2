/* SPDX-License-Identifier: MIT
 * tls_worker: shared by the TLS connections of one thread, those of a client to one server: the
 * bytes on their way between OpenSSL and a socket, and the session ticket.  OpenSSL reads and
 * writes the bytes through a custom BIO. */
#ifndef TCPSCALER_NET_TLS_WORKER_H
#define TCPSCALER_NET_TLS_WORKER_H

#include "measure/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ssl_st;
struct ssl_session_st;

/* Shared by all connections of a program (net/tls_context.h). */
struct tls_context {
    struct ssl_ctx_st *ctx;
    struct bio_method_st *bio;
    char *server_name; /* for SNI; NULL: none */
    bool is_client;
};

struct tls_worker {
    struct tls_context *context;
    /* n_out bytes to send on the connection of the last call.  The caller sends them and sets n_out
     * to 0 before it makes a call for another connection. */
    uint8_t *out;
    size_t n_out, out_room;
    const uint8_t *in; /* unread part of the current input */
    size_t n_in;
    struct ssl_session_st *ticket; /* latest ticket; NULL: none */
    /* of the last failure */
    enum outcome_reason reason;
    const char *text; /* string constant */
};

void tls_worker_init(struct tls_worker *w, struct tls_context *context);
void tls_worker_free(struct tls_worker *w); /* call it after freeing its connections */

/* Returns the method of BIOs whose data is a worker, owned by the caller; NULL if out of memory. */
struct bio_method_st *tls_worker_bio_method(void);

/* Returns the worker of a connection's BIO. */
struct tls_worker *tls_worker_of(const struct ssl_st *ssl);

/* Callback for new sessions; takes ownership of this one. */
int tls_worker_keep_ticket(struct ssl_st *ssl, struct ssl_session_st *session);

#endif
