/* SPDX-License-Identifier: MIT
 * peer_answer: the answers of the simulated server. */
#ifndef TCPSCALER_SIM_PEER_ANSWER_H
#define TCPSCALER_SIM_PEER_ANSWER_H

#include "tcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the answer to the query with this id on connection t. out: room for QUERY_MAX_BYTES + 2.
 * Returns the length. */
size_t peer_answer_encode(const struct tcp *t, uint8_t *out, uint16_t id, bool is_malformed);

#endif
