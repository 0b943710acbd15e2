/* SPDX-License-Identifier: MIT
 * ledger: records what really happened to each query, independently of the product, to compare it
 * with the product's claims.
 *
 * The facts come from the simulated calls: which bytes were sent and received, and which times the
 * clock showed. The claims (a query is sent, answered, given up, lost with its connection) are
 * intercepted at the calls between the product's parts (the linker's --wrap). Each claim is
 * compared with the facts when it is made; the sums and every bucket of the histograms are compared
 * at the end. */
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

/* The last byte of a query was sent: its connection and its id. */
void ledger_on_wire(uint32_t i, uint16_t id);

/* The product has read this, with the arrival time arrived_ns (0: without one). `is_drained`: stray
 * answers no longer count. */
void ledger_on_received(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t arrived_ns,
                        bool is_drained);

/* With TLS: the plain text of the bytes that it has read last. */
void ledger_on_plain(const uint8_t *data, size_t n_bytes);

/* The product has read the end of the stream, or a reset. */
void ledger_on_end(uint32_t i);

/* The running fiber has read this value of CLOCK_MONOTONIC. */
void ledger_on_clock(uint64_t now_ns);

/* The running fiber has processed the data that it received. */
void ledger_on_turn(void);

/* Likewise, and waits. */
void ledger_on_wait(void);

/* The same; but it may have written queries of connection i that it has not counted yet, and writes
 * more. */
void ledger_on_write(uint32_t i);

/* While this is set, it has not: TLS may have to answer before the product processes the decrypted
 * data. */
void ledger_hold_turn(bool is_held);

/* The product closes connection i. */
void ledger_on_close(uint32_t i);

/* --- claims about the queries of connection i --- */

struct inflight_query;

/* The running fiber queues a query in this slot; it has no connection yet. */
void ledger_on_queued(uint32_t slot);

/* The query in this slot was sent at this time. */
void ledger_on_sent(uint32_t i, const struct inflight_query *q, uint32_t slot, uint64_t sent_ns);

/* The data received last answer the query. */
void ledger_on_answered(uint32_t i, const struct inflight_query *q);

/* The query's timeout is over. */
void ledger_on_expired(uint32_t i, const struct inflight_query *q);

/* All queries of the connection are lost; of n_waiting, no byte has been encrypted or written. */
void ledger_on_lost(uint32_t i, uint32_t n_waiting);

#endif
