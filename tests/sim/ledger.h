/* SPDX-License-Identifier: MIT
 * ledger: what really happened to each query, kept beside the product and compared with what it
 * says.
 *
 * Facts come from the simulated calls: which bytes were sent and received, and what the clock told
 * the product.  The product's claims - a query is sent, answered, given up, lost with its
 * connection - are seen at the calls between its parts (the linker's --wrap).  Each claim is held
 * against the facts when it is made; the sums and every bucket of the histograms at the end. */
#ifndef TCPSCALER_SIM_LEDGER_H
#define TCPSCALER_SIM_LEDGER_H

#include "client/worker/config.h"
#include "client/worker/metric.h"
#include "ledger_sums.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After classes_begin(). */
void ledger_begin(const struct client_config *config);

/* All of its queries have ended. */
void ledger_end(void);

/* --- facts --- */

/* The last byte of a query is on its way: connection i, its id. */
void ledger_on_wire(uint32_t i, uint16_t id);

/* The product has read this, and was told that it arrived at arrived_ns; 0: it was not told.
 * `is_drained`: strays do not count any more. */
void ledger_on_received(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t arrived_ns,
                        bool is_drained);

/* With TLS, what it has read last means this. */
void ledger_on_plain(const uint8_t *data, size_t n_bytes);

/* It has read the end of the stream, or its reset. */
void ledger_on_end(uint32_t i);

/* CLOCK_MONOTONIC told the running fiber this. */
void ledger_on_clock(uint64_t now_ns);

/* The running fiber has dealt with what it received. */
void ledger_on_turn(void);

/* Likewise, and waits. */
void ledger_on_wait(void);

/* Likewise; it may have written queries of connection i that it has not counted yet, and writes
 * more. */
void ledger_on_write(uint32_t i);

/* While it is held, it has not: TLS may have to answer before the product takes what it has
 * decrypted. */
void ledger_hold_turn(bool is_held);

/* The product closes connection i. */
void ledger_on_close(uint32_t i);

/* --- claims: of the queries of connection i --- */

struct inflight_query;

/* The running fiber queues one, in this slot; not yet of a connection. */
void ledger_on_queued(uint32_t slot);

/* It, of this slot, was sent at this time. */
void ledger_on_sent(uint32_t i, const struct inflight_query *q, uint32_t slot, uint64_t sent_ns);

/* What was received last answers it. */
void ledger_on_answered(uint32_t i, const struct inflight_query *q);

/* Its timeout is over. */
void ledger_on_expired(uint32_t i, const struct inflight_query *q);

/* All it has are lost, n_waiting of which have not been encrypted or begun to be written. */
void ledger_on_lost(uint32_t i, uint32_t n_waiting);

#endif
