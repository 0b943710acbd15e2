/* SPDX-License-Identifier: MIT
 * query_ping: the 4 bytes "Ping" are answered by the 4 bytes "Pong"; other bytes are ignored. */
#ifndef TCPSCALER_PROTOCOL_QUERY_PING_H
#define TCPSCALER_PROTOCOL_QUERY_PING_H

#include "protocol/query.h"

extern const struct query_protocol query_ping_protocol;

/* The server's half: writes one "Pong" for each "Ping" completed by the input.  *matched (0 at the
 * start of a connection) carries the bytes of a "Ping" seen so far.  out has n_bytes + 3 bytes.
 * Returns the bytes written. */
size_t query_ping_answer(uint8_t *matched, const uint8_t *data, size_t n_bytes, uint8_t *out);

#endif
