/* SPDX-License-Identifier: MIT
 * query_ping: the 4 bytes "Ping" are answered by the 4 bytes "Pong".  Other bytes are ignored. */
#ifndef TCPSCALER_PROTOCOL_QUERY_PING_H
#define TCPSCALER_PROTOCOL_QUERY_PING_H

#include "protocol/query.h"

extern const struct query_protocol query_ping_protocol;

/* For the server: writes one "Pong" for each "Ping" that the input completes.  *matched (0 at the
 * start of a connection) is the number of bytes of an incomplete "Ping".  out has n_bytes + 3
 * bytes.  Returns the number of bytes written. */
size_t query_ping_answer(uint8_t *matched, const uint8_t *data, size_t n_bytes, uint8_t *out);

#endif
