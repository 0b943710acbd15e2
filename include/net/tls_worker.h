/* SPDX-License-Identifier: MIT
 * tls_worker: what the TLS connections of one thread share: the bytes on their way between OpenSSL
 * and a socket, and the ticket.  OpenSSL reads and writes them through a BIO of its own kind. */
#ifndef TCPSCALER_NET_TLS_WORKER_H
#define TCPSCALER_NET_TLS_WORKER_H

#include "measure/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ssl_st;
struct ssl_session_st;

/* What all connections of a program share (net/tls_context.h). */
struct tls_context {
    struct ssl_ctx_st *ctx;
    struct bio_method_st *bio;
    char *server_name; /* for SNI; NULL: none */
    bool is_client, resume;
};

struct tls_worker {
    struct tls_context *context;
    uint8_t *out; /* n_out bytes for the socket of the connection called last: the caller sends them
                     and sets n_out to 0 before it calls for another connection */
    size_t n_out, out_room;
    const uint8_t *in; /* what is left of the input under way */
    size_t n_in;
    struct ssl_session_st *ticket; /* the latest; NULL: none */
    /* of the failure last */
    enum outcome_reason reason;
    const char *text; /* a constant */
};

void tls_worker_init(struct tls_worker *w, struct tls_context *context);
void tls_worker_free(struct tls_worker *w); /* after its connections */

/* Of the BIOs whose data is a worker; NULL: no memory.  The caller owns it. */
struct bio_method_st *tls_worker_bio_method(void);

/* Behind a connection's BIO. */
struct tls_worker *tls_worker_of(const struct ssl_st *ssl);

/* A callback for new sessions, which takes this one over. */
int tls_worker_keep_ticket(struct ssl_st *ssl, struct ssl_session_st *session);

#endif
