/* SPDX-License-Identifier: MIT
 * ledger_entries: the queries in flight, and the expired ones that may still be answered, found by
 * connection and id or, without ids, in order. */
#ifndef TCPSCALER_SIM_LEDGER_ENTRIES_H
#define TCPSCALER_SIM_LEDGER_ENTRIES_H

#include "tcp.h"

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_NONE UINT32_MAX

enum ledger_state { LEDGER_FREE, LEDGER_IN_FLIGHT, LEDGER_OWED };

struct ledger_entry {
    uint64_t intended_ns, sent_ns;
    uint64_t late_us;    /* when it was queued */
    uint64_t expired_ns; /* when it was given up */
    uint32_t tcp, serial;
    uint32_t previous, next; /* of the connection */
    uint16_t id;
    uint8_t state, class;
    bool on_wire;
    bool is_begun; /* with TLS: encrypted, if not yet written */
};

void ledger_entries_begin(bool has_ids);

struct ledger_entry *ledger_entry_at(uint32_t e);

/* Appends a query to those of connection i. */
uint32_t ledger_entry_new(uint32_t i, uint16_t id);

/* Returns the query of connection i with this id or, without ids, the first one; LEDGER_NONE if
 * there is none. */
uint32_t ledger_entry_find(uint32_t i, uint16_t id);

/* Returns the query to which an answer on connection i belongs: as above, if part of the query was
 * sent. */
uint32_t ledger_entry_answered(uint32_t i, uint16_t id);

/* Returns the first query of connection i that was not sent; LEDGER_NONE if there is none. `id`:
 * its id, if there are ids. */
uint32_t ledger_entry_unwritten(uint32_t i, uint16_t id);

/* The query of connection i with this id or, without ids, the next one, was encrypted.  No effect
 * if it has not yet been reported as sent. */
void ledger_entry_begin(uint32_t i, uint16_t id);

void ledger_entry_free(uint32_t e);

/* The same; its answer was received, perhaps before the whole query was written. */
void ledger_entry_end_by_answer(uint32_t e);

/* In all. */
uint32_t ledger_entries_n(void);

#endif
