/* SPDX-License-Identifier: MIT
 * peer_tls: TLS at the other end of the connections, by OpenSSL.  What the product sends must be
 * TLS: a record that the other end cannot read is a violation, unless this end has done wrong
 * first (tcp_peer.is_hostile). */
#ifndef TCPSCALER_SIM_PEER_TLS_H
#define TCPSCALER_SIM_PEER_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ssl_session_st;
struct ssl_st;

/* A run begins: no tickets. */
void peer_tls_begin(void);

/* Connection i gets its state, as server or as client; closing frees it. */
void peer_tls_open(uint32_t i, bool is_server);
void peer_tls_close(uint32_t i);

/* The product has sent this on connection i.  Returns the length of its plain text, in *plain until
 * the next call. */
size_t peer_tls_take(uint32_t i, const uint8_t *data, size_t n_bytes, const uint8_t **plain);

/* Encrypts n_bytes, after the output of TLS itself; n_bytes 0: only that.  At random, the keys of
 * both directions change first (TLS 1.3), or the result is damaged.  Returns the length, in *out
 * until the next call. */
size_t peer_tls_seal(uint32_t i, const uint8_t *plain, size_t n_bytes, const uint8_t **out);

/* Likewise close_notify. */
size_t peer_tls_seal_end(uint32_t i, const uint8_t **out);

bool peer_tls_is_established(uint32_t i);
bool peer_tls_is_resumed(uint32_t i);
bool peer_tls_was_ended(uint32_t i); /* by the product's close_notify */

/* OpenSSL's callback for tickets. */
int peer_tls_keep_ticket(struct ssl_st *ssl, struct ssl_session_st *session);

#endif
