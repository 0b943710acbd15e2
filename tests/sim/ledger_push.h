/* SPDX-License-Identifier: MIT
 * ledger_push: the ledger of a run that listens: what happens to each message that the peer pushes.
 */
#ifndef TCPSCALER_SIM_LEDGER_PUSH_H
#define TCPSCALER_SIM_LEDGER_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger_message {
    uint64_t sequence, intended_ns, sent_ns;
    uint32_t n_bytes;
    bool is_damaged;   /* in its payload */
    bool is_malformed; /* its header */
};

void ledger_push_begin(void);

/* The measurement: messages due from measure_ns until end_ns. */
void ledger_push_span(uint64_t measure_ns, uint64_t end_ns);

/* The peer sends this message on connection i. */
void ledger_push_sent(uint32_t i, const struct ledger_message *m);

/* The product has read n_bytes, which arrived at arrived_ns (0: it does not know), or the end. */
void ledger_push_received(uint32_t i, size_t n_bytes, uint64_t arrived_ns);
void ledger_push_ended(uint32_t i);

/* The product read this value of CLOCK_MONOTONIC right after that. */
void ledger_push_stamped(uint64_t received_ns);

void ledger_push_closed(uint32_t i);

struct ledger_push_sums {
    uint64_t before, measured, after, lost, duplicate, damaged, missed;
    uint64_t missed_damaged; /* of these, damaged */
};

extern struct ledger_push_sums ledger_push_sums;

#endif
