/* SPDX-License-Identifier: MIT
 * ledger_idle: how long connections on demand are idle, computed from the data received and from
 * the clock readings of the product. */
#ifndef TCPSCALER_SIM_LEDGER_IDLE_H
#define TCPSCALER_SIM_LEDGER_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connection i takes queries from now on. */
void ledger_idle_usable(uint32_t i);

/* Whether it takes queries, and was not told to close. */
bool ledger_idle_is_usable(uint32_t i);

/* A query was sent on connection i, which may have waited for it. */
void ledger_idle_sent(uint32_t i, bool has_waited);

/* Connection i has received data, or one of its queries has expired. */
void ledger_idle_rest(uint32_t i);

/* Connection i has received this: answers that may contain an idle timeout. */
void ledger_idle_received(uint32_t i, const uint8_t *data, size_t n_bytes);

/* The product closes connection i, `as_idle` or for another reason, with queries in its list or
 * without.  own_ns: its idle timeout; 0: none. */
void ledger_idle_close(uint32_t i, uint64_t own_ns, bool as_idle, bool has_queries);

#endif
