/* SPDX-License-Identifier: MIT
 * client_tls: TLS for a worker's connections, a codec between their bytes and client_io.  Without
 * TLS nothing is allocated, and each call of send(2) and recv(2) costs one test of a pointer.  Used
 * by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_TLS_H
#define TCPSCALER_CLIENT_WORKER_TLS_H

#include "client/worker/transport.h"
#include "net/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_tls {
    struct tls_worker workers[CLIENT_CLASS_MOST]; /* one for each port of the server */
    struct tls_worker *of_class[CLIENT_CLASS_MOST];
    struct tls **conns; /* one per connection of the worker; NULL: none */
    uint8_t *plain;     /* CLIENT_RECEIVE_BYTES + TLS_RECORD_BYTES */
};

/* Creates t->tls if config->tls is set.  Returns 0 or -1 with errno. */
int client_tls_init(struct client_transport *t);
void client_tls_free(struct client_transport *t); /* call it after all connections have ended */

/* Returns what the connection shares with others to the same port. */
static inline struct tls_worker *client_tls_worker(const struct client_conn *c)
{
    return c->transport->tls->of_class[c->class_index];
}

/* Prepares the handshake.  Returns 0 or ENOMEM. */
int client_tls_begin(struct client_conn *c);

/* Takes the first step of the handshake.  The caller then calls client_tls_send_step(). */
enum tls_status client_tls_start(struct client_conn *c);

/* Sends the output of the last handshake step.  Returns 0 or an errno. */
int client_tls_send_step(struct client_conn *c);

/* Returns whether the handshake has finished. */
bool client_tls_is_established(const struct client_conn *c);

/* Returns whether the server has sent close_notify or a fatal alert. */
bool client_tls_is_ended_by_peer(const struct client_conn *c);

/* Records version, cipher and resumption after the handshake. */
void client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns);

/* Decrypts received bytes into `plain`, which has room for n + TLS_RECORD_BYTES. */
enum tls_status client_tls_decrypt(struct client_conn *c, const uint8_t *data, size_t n,
                                   uint8_t *plain, size_t *n_plain);

/* Sends the output of TLS itself, such as key updates and alerts, but nothing after a lost record.
 * Returns 0 or an errno; EPROTO: the peer requests such output, and reads none of it. */
int client_tls_send_own(struct client_conn *c);

/* Encrypts and sends bytes, and keeps those that the socket does not accept.  Returns 0 or an
 * errno. */
int client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Releases the connection's state.  say_so: first sends close_notify, unless records were lost or
 * are still kept. */
void client_tls_end(struct client_conn *c, bool say_so);

#endif
