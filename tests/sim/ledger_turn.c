/* SPDX-License-Identifier: MIT
 * ledger_turn: see ledger_turn.h. */
#include "ledger_turn.h"

#include "fiber.h"
#include "memory.h"

enum { FIRST_ROOM = 64 };

static struct ledger_turn turns[FIBER_MOST];

static void empty(struct ledger_ids *ids)
{
    ids->first = ids->n = 0;
}

void ledger_turns_begin(void)
{
    for (int i = 0; i < FIBER_MOST; i++) {
        turns[i].woke_ns = turns[i].woke_before_ns = turns[i].tcp_name = turns[i].wire_name = 0;
        turns[i].is_held = false;
        empty(&turns[i].answers);
        empty(&turns[i].wire);
    }
}

struct ledger_turn *ledger_turn(void)
{
    return &turns[fiber_current()];
}

void ledger_turn_end(struct ledger_turn *now)
{
    now->tcp_name = 0;
    empty(&now->answers);
}

void ledger_ids_add(struct ledger_ids *ids, uint16_t id)
{
    if (ledger_ids_n(ids) == 0)
        empty(ids);
    if (ids->n == ids->room) {
        ids->room = ids->room > 0 ? 2 * ids->room : FIRST_ROOM;
        ids->all = memory_own(ids->all, ids->room * sizeof *ids->all);
    }
    ids->all[ids->n++] = id;
}
