/* SPDX-License-Identifier: MIT
 * ledger_entries: the queries in flight, and those that expired and may still be answered, found by
 * connection and id or, where there is no id, in their order. */
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

/* A query of connection i, behind those it has. */
uint32_t ledger_entry_new(uint32_t i, uint16_t id);

/* That of connection i with this id, without ids its first one; LEDGER_NONE. */
uint32_t ledger_entry_find(uint32_t i, uint16_t id);

/* The one that an answer on connection i belongs to: likewise, if bytes of it have left. */
uint32_t ledger_entry_answered(uint32_t i, uint16_t id);

/* The first of connection i that is not on the wire; LEDGER_NONE.  `id` is its, if there are ids.
 */
uint32_t ledger_entry_unwritten(uint32_t i, uint16_t id);

/* That of connection i with this id, without ids the next one, is encrypted; nothing if it has not
 * yet been said to be sent. */
void ledger_entry_begin(uint32_t i, uint16_t id);

void ledger_entry_free(uint32_t e);

/* Likewise; its answer has come, perhaps before all of it was written. */
void ledger_entry_end_by_answer(uint32_t e);

/* In all. */
uint32_t ledger_entries_n(void);

#endif
