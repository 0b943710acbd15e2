/* SPDX-License-Identifier: MIT
 * ledger_turn: the data that a thread has received and written, until the product reports what
 * that was.
 *
 * A turn lasts from a receive call to the thread's next call that sends, receives or waits: by then
 * the product has credited or counted each answer, and counted each query written. */
#ifndef TCPSCALER_SIM_LEDGER_TURN_H
#define TCPSCALER_SIM_LEDGER_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* A queue of ids. */
struct ledger_ids {
    uint16_t *all;
    uint32_t first, n, room;
};

struct ledger_turn {
    uint64_t woke_ns;          /* its first reading of the clock since it waited; 0: none yet */
    uint64_t woke_before_ns;   /* likewise, before that */
    uint64_t tcp_name;         /* connection of the answers (tcp_name()); 0: none */
    uint64_t stamp_ns;         /* when they were received; 0: it has not yet read the clock */
    uint64_t arrived_ns;       /* when they arrived in the kernel; 0: unknown */
    unsigned n_clocks;         /* readings of the clock before the one that is the stamp */
    struct ledger_ids answers; /* not yet credited or counted */
    bool is_malformed;         /* the answer after them is malformed */
    bool is_drained;           /* stray answers no longer count */
    bool is_held;              /* the product has not yet taken what it decrypted */
    uint64_t wire_name;        /* connection of the queries written ... */
    uint64_t wire_ns;          /* ... its last reading of the clock before that ... */
    struct ledger_ids wire;    /* ... and which of them are not yet counted */
};

void ledger_turns_begin(void);

/* Returns the turn of the running fiber. */
struct ledger_turn *ledger_turn(void);

/* The product is done with the answers. */
void ledger_turn_end(struct ledger_turn *now);

static inline uint32_t ledger_ids_n(const struct ledger_ids *ids)
{
    return ids->n - ids->first;
}

void ledger_ids_add(struct ledger_ids *ids, uint16_t id);

/* The first one, which must exist.  _take removes it. */
static inline uint16_t ledger_ids_first(const struct ledger_ids *ids)
{
    return ids->all[ids->first];
}

static inline uint16_t ledger_ids_take(struct ledger_ids *ids)
{
    return ids->all[ids->first++];
}

#endif
