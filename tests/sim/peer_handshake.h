/* SPDX-License-Identifier: MIT
 * peer_handshake: TLS handshakes of the other ends, and their faults: some fall silent, abort, send
 * something else, or send one byte from time to time. */
#ifndef TCPSCALER_SIM_PEER_HANDSHAKE_H
#define TCPSCALER_SIM_PEER_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connection i gets TLS, as server or as client. */
void peer_handshake_begin(uint32_t i, bool is_server);

/* The product has sent this; n_bytes 0: the client's first step.  The reply of TLS arrives at
 * at_ns.  Returns the length of the plain text, in *plain until the next call of peer_tls. */
size_t peer_handshake_take(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t at_ns,
                           const uint8_t **plain);

/* Whether the other end may send. */
bool peer_handshake_is_over(uint32_t i);

#endif
