/* SPDX-License-Identifier: MIT
 * tls: TLS as a codec between a socket and a protocol, with OpenSSL.  Makes no system calls once a
 * context exists; no libevent.
 *
 * Takes received bytes and returns plain bytes; takes plain bytes and returns bytes to send.
 * Sockets are read, written and watched in the same way with and without TLS, and nothing here
 * blocks.  An idle connection has no buffer. */
#ifndef TCPSCALER_NET_TLS_H
#define TCPSCALER_NET_TLS_H

#include "net/tls_worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_RECORD_BYTES 16384u /* maximum of plain data per record (RFC 8446, 5.1) */

/* One connection. */
struct tls;

/* Returns NULL if out of memory. */
struct tls *tls_new(struct tls_worker *w);
void tls_free(struct tls *t); /* NULL: no effect */

enum tls_status {
    TLS_OK,
    TLS_CLOSED, /* received close_notify: the peer sends nothing more */
    TLS_FAILED  /* reason in w->reason and w->text; the connection is unusable */
};

/* Takes a client's first handshake step; tls_receive() takes all others. */
enum tls_status tls_start(struct tls *t);

/* Takes all received bytes.  Writes *n_plain plain bytes to `plain`, which has room for n +
 * TLS_RECORD_BYTES, including those before a TLS_CLOSED or TLS_FAILED.  In every case there may be
 * bytes to send afterwards. */
enum tls_status tls_receive(struct tls *t, const uint8_t *data, size_t n, uint8_t *plain,
                            size_t *n_plain);

/* Encrypts n > 0 plain bytes and appends them to w->out.  Requires an established connection. */
enum tls_status tls_send(struct tls *t, const uint8_t *plain, size_t n);

/* Appends close_notify to w->out; no effect before the end of the handshake. */
void tls_end(struct tls *t);

/* Returns whether the peer has sent close_notify or a fatal alert: nothing more comes from it. */
bool tls_is_ended_by_peer(const struct tls *t);

bool tls_is_established(const struct tls *t); /* whether the handshake has finished */
bool tls_is_resumed(const struct tls *t);     /* whether it was abbreviated */
const char *tls_version(const struct tls *t); /* "TLSv1.3", a constant */
const char *tls_cipher(const struct tls *t);  /* "TLS_AES_256_GCM_SHA384", a constant */

#endif
