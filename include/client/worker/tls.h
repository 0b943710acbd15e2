/* SPDX-License-Identifier: MIT
 * client_tls: TLS of a worker's connections, as a codec between their bytes and client_io.  A
 * worker without it has none of this and pays one look at a pointer per call of send(2) and
 * recv(2).  Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_TLS_H
#define TCPSCALER_CLIENT_WORKER_TLS_H

#include "client/worker/transport.h"
#include "net/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_tls {
    struct tls_worker shared;
    struct tls **conns; /* of each of the worker's connections; NULL: none now */
    uint8_t *plain;     /* room for CLIENT_RECEIVE_BYTES + TLS_RECORD_BYTES */
};

/* Makes t->tls if config->tls is set.  Returns 0 or -1 with errno. */
int client_tls_init(struct client_transport *t);
void client_tls_free(struct client_transport *t); /* after its connections have ended */

/* Prepares the handshake.  Returns 0 or ENOMEM. */
int client_tls_begin(struct client_conn *c);

/* The first step of the handshake; client_tls_send_step() is to send it. */
enum tls_status client_tls_start(struct client_conn *c);

/* Sends what the last step of the handshake made.  Returns 0 or an errno. */
int client_tls_send_step(struct client_conn *c);

/* The handshake is over. */
bool client_tls_is_established(const struct client_conn *c);

/* Records how the handshake went, once it is over. */
void client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns);

/* Decrypts what the socket received into `plain`, which has room for n + TLS_RECORD_BYTES. */
enum tls_status client_tls_decrypt(struct client_conn *c, const uint8_t *data, size_t n,
                                   uint8_t *plain, size_t *n_plain);

/* Sends what TLS itself has to say, such as new keys or an alert.  Returns 0 or an errno. */
int client_tls_send_own(struct client_conn *c);

/* Encrypts and sends bytes; what the socket does not take is kept.  Returns 0 or an errno. */
int client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Releases what the connection has; with say_so the peer is told first. */
void client_tls_end(struct client_conn *c, bool say_so);

#endif
