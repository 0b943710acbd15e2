/* SPDX-License-Identifier: MIT
 * ledger_stream: finds the end of each answer in the data that a connection receives. */
#ifndef TCPSCALER_SIM_LEDGER_STREAM_H
#define TCPSCALER_SIM_LEDGER_STREAM_H

#include "protocol/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tcp;

/* Returns the length of the answer that begins here, if it is complete and easy to find; its id is
 * then t->ledger.id. 0: process it byte by byte. */
size_t ledger_stream_whole(struct tcp *t, const struct query *query, const uint8_t *data,
                           size_t n_bytes);

/* Counts the datagram that begins here if it is malformed; is_sure: the connection has not ended.
 * Returns its bytes, those of its length included; 0: it is not, or it is a stream. */
size_t ledger_stream_skip_malformed(const struct tcp *t, const uint8_t *data, bool is_sure);

/* The next byte of an answer.  Returns whether it is its last; its id is then t->ledger.id. */
bool ledger_stream_take(struct tcp *t, const struct query *query, uint8_t byte, bool *is_malformed);

#endif
