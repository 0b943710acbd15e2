/* SPDX-License-Identifier: MIT
 * tls: TLS as a codec between a socket and a protocol, on OpenSSL.  No system call once a context
 * is made, no libevent.
 *
 * What a socket has received is put in and comes out as plain bytes; plain bytes are put in and
 * come out as what the socket is to send.  So how sockets are read, written and watched is the same
 * with and without TLS, and nothing here ever waits.  A connection that rests keeps no buffer. */
#ifndef TCPSCALER_NET_TLS_H
#define TCPSCALER_NET_TLS_H

#include "net/tls_worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_RECORD_BYTES 16384u /* of plain data, the most (RFC 8446, 5.1) */

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

bool tls_is_ended_by_peer(const struct tls *t); /* tls_receive() has returned TLS_CLOSED */

bool tls_is_established(const struct tls *t); /* the handshake is over */
bool tls_is_resumed(const struct tls *t);     /* it was an abbreviated one */
const char *tls_version(const struct tls *t); /* "TLSv1.3", a constant */
const char *tls_cipher(const struct tls *t);  /* "TLS_AES_256_GCM_SHA384", a constant */

#endif
