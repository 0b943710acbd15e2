/* SPDX-License-Identifier: MIT
 * peer_query: how the simulated server reads queries, which must be those of the connection's
 * class, byte by byte. */
#ifndef TCPSCALER_SIM_PEER_QUERY_H
#define TCPSCALER_SIM_PEER_QUERY_H

#include "protocol/query.h"
#include "tcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Queries that a class may have. */
enum { PEER_QUERY_MOST = 8 };

/* Reads from n_bytes > 0 of connection t, at most to the end of a query.  Returns the bytes read;
 * *is_whole: a query ends there, its id is *id. */
size_t peer_query_take(struct tcp *t, const struct query *query, const uint8_t *data,
                       size_t n_bytes, bool *is_whole, uint16_t *id);

#endif
