/* SPDX-License-Identifier: MIT
 * tls: TLS as a codec between a socket and a protocol, on OpenSSL.  No system call once a context
 * is made, no libevent.
 *
 * What a socket has received is put in and comes out as plain bytes; plain bytes are put in and
 * come out as what the socket is to send.  So how sockets are read, written and watched is the same
 * with and without TLS, and nothing here ever waits.  A connection that rests keeps no buffer. */
#ifndef TCPSCALER_TLS_H
#define TCPSCALER_TLS_H

#include "outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_ERROR_BYTES  200
#define TLS_RECORD_BYTES 16384u /* of plain data, the most (RFC 8446, 5.1) */

/* In the order of the options' choices. */
enum tls_min { TLS_MIN_1_2, TLS_MIN_1_3 };

#define TLS_MINS "1.2|1.3"

/* What all connections of a program share: certificates, versions, ciphers.  Any thread. */
struct tls_context;

struct tls_client_options {
    const char *name;    /* asked for by SNI and to be in the certificate; an address: in it only */
    const char *ca_file; /* PEM; NULL: the system's */
    const char *ciphers; /* names, ':' between them, of TLS 1.2 and TLS_... of 1.3; NULL: OpenSSL's.
                            A version none of whose ciphers is named is not offered. */
    const char *alpn;    /* protocol offered (RFC 7301); NULL: none */
    int min;             /* enum tls_min */
    bool insecure;       /* whatever certificate there is will do */
    bool resume;         /* with the latest ticket of the same struct tls_worker */
};

struct tls_server_options {
    const char *cert_file, *key_file; /* PEM; the chain behind the certificate */
    int min;                          /* enum tls_min */
};

/* NULL with one line in error (TLS_ERROR_BYTES): which option, its value, what is wrong. */
struct tls_context *tls_client_context(const struct tls_client_options *options, char *error);
struct tls_context *tls_server_context(const struct tls_server_options *options, char *error);
void tls_context_free(struct tls_context *context); /* after all that was made from it */

/* What the connections of one thread share. */
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

/* What does the work, as "OpenSSL 3.0.19 27 Jan 2026". */
const char *tls_library(void);

/* One connection. */
struct tls;

/* NULL: no memory. */
struct tls *tls_new(struct tls_worker *w);
void tls_free(struct tls *t); /* NULL: nothing */

enum tls_status {
    TLS_OK,
    TLS_CLOSED, /* the peer has said that it sends nothing more (close_notify) */
    TLS_FAILED  /* w->reason and w->text say why; the connection is of no more use */
};

/* A client's first step of the handshake; every further one is made by tls_receive(). */
enum tls_status tls_start(struct tls *t);

/* Takes all of what the socket received.  The plain bytes in it, *n_plain of them, go to `plain`,
 * which has room for n + TLS_RECORD_BYTES; also those before a TLS_CLOSED or TLS_FAILED.  There may
 * be something to send afterwards in every case. */
enum tls_status tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                            size_t *n_plain);

/* Appends n > 0 plain bytes, encrypted, to w->out.  The handshake is over. */
enum tls_status tls_send(struct tls *t, const uint8_t *plain, size_t n);

/* Appends to w->out that nothing more will be sent; nothing before the end of the handshake. */
void tls_end(struct tls *t);

bool tls_is_established(const struct tls *t); /* the handshake is over */
bool tls_is_resumed(const struct tls *t);     /* it was an abbreviated one */
const char *tls_version(const struct tls *t); /* "TLSv1.3", a constant */
const char *tls_cipher(const struct tls *t);  /* "TLS_AES_256_GCM_SHA384", a constant */

#endif
