/* SPDX-License-Identifier: MIT
 * ledger_stream: where the answers end in what a connection receives. */
#ifndef TCPSCALER_SIM_LEDGER_STREAM_H
#define TCPSCALER_SIM_LEDGER_STREAM_H

#include "protocol/query.h"

#include <stdbool.h>
#include <stdint.h>

struct tcp;

/* The next byte of an answer.  Returns whether it is its last; its id is then t->ledger.id. */
bool ledger_stream_take(struct tcp *t, const struct query *query, uint8_t byte, bool *is_malformed);

#endif
