/* SPDX-License-Identifier: MIT
 * ledger_entries: see ledger_entries.h. */
#include "ledger_entries.h"

#include "memory.h"
#include "world.h"

#include <string.h>

static struct ledger_entry *all;
static uint32_t n_used, room, first_free;
static uint32_t n_entries;
static bool has_ids;

/* Open addressing with linear probing; an element is 1 + entry, 0: none. */
static uint32_t *table;
static uint32_t table_size;

void ledger_entries_begin(bool with_ids)
{
    has_ids = with_ids;
    n_used = n_entries = 0;
    first_free = LEDGER_NONE;
    if (table != NULL)
        memset(table, 0, table_size * sizeof *table);
}

struct ledger_entry *ledger_entry_at(uint32_t e)
{
    return &all[e];
}

uint32_t ledger_entries_n(void)
{
    return n_entries;
}

/* --- by connection and id --- */

static uint32_t home(uint32_t i, uint32_t serial, uint16_t id)
{
    return (uint32_t)(world_mix(world_mix((uint64_t)serial << 32 | i, id), 1) >> 32) &
           (table_size - 1);
}

static uint32_t home_of(const struct ledger_entry *e)
{
    return home(e->tcp, e->serial, e->id);
}

static void enter(uint32_t e)
{
    uint32_t at = home_of(&all[e]);

    while (table[at] != 0)
        at = (at + 1) & (table_size - 1);
    table[at] = e + 1;
}

static void grow_table(void)
{
    table_size = table_size > 0 ? 2 * table_size : 1024;
    table = memory_own(table, table_size * sizeof *table);
    memset(table, 0, table_size * sizeof *table);
    for (uint32_t e = 0; e < n_used; e++)
        if (all[e].state != LEDGER_FREE)
            enter(e);
}

static uint32_t position(uint32_t i, uint32_t serial, uint16_t id)
{
    uint32_t at = home(i, serial, id);

    while (table[at] != 0) {
        const struct ledger_entry *e = &all[table[at] - 1];

        if (e->tcp == i && e->serial == serial && e->id == id)
            return at;
        at = (at + 1) & (table_size - 1);
    }
    return LEDGER_NONE;
}

/* Entries after it that could not take this slot move up. */
static void take_out(uint32_t at)
{
    uint32_t next = at;

    for (;;) {
        next = (next + 1) & (table_size - 1);
        if (table[next] == 0)
            break;
        if (((next - home_of(&all[table[next] - 1])) & (table_size - 1)) <
            ((next - at) & (table_size - 1)))
            continue;
        table[at] = table[next];
        at = next;
    }
    table[at] = 0;
}

uint32_t ledger_entry_find(uint32_t i, uint16_t id)
{
    const struct tcp *t = tcp_at(i);
    uint32_t at;

    if (!has_ids)
        return t->ledger.first_entry;
    if (table_size == 0 || (at = position(i, t->serial, id)) == LEDGER_NONE)
        return LEDGER_NONE;
    return table[at] - 1;
}

static uint32_t first_unwritten(const struct tcp *t)
{
    uint32_t e = t->ledger.first_entry;

    while (e != LEDGER_NONE && all[e].on_wire)
        e = all[e].next;
    return e;
}

uint32_t ledger_entry_answered(uint32_t i, uint16_t id)
{
    const struct tcp *t = tcp_at(i);
    const uint32_t e = ledger_entry_find(i, id);

    if (e == LEDGER_NONE || all[e].on_wire || all[e].is_begun)
        return e;
    return t->peer.offset > 0 && !t->ledger.is_orphan && t->ledger.n_orphans == 0 &&
                   first_unwritten(t) == e
               ? e
               : LEDGER_NONE;
}

void ledger_entry_end_by_answer(uint32_t e)
{
    if (!all[e].on_wire && all[e].is_begun)
        tcp_at(all[e].tcp)->ledger.n_orphans++;
    else if (!all[e].on_wire)
        tcp_at(all[e].tcp)->ledger.is_orphan = true;
    ledger_entry_free(e);
}

uint32_t ledger_entry_unwritten(uint32_t i, uint16_t id)
{
    uint32_t e;

    if (!has_ids)
        return first_unwritten(tcp_at(i));
    e = ledger_entry_find(i, id);
    return e != LEDGER_NONE && !all[e].on_wire ? e : LEDGER_NONE;
}

void ledger_entry_begin(uint32_t i, uint16_t id)
{
    uint32_t e = ledger_entry_find(i, id);

    while (!has_ids && e != LEDGER_NONE && all[e].is_begun)
        e = all[e].next;
    if (e != LEDGER_NONE)
        all[e].is_begun = true;
}

/* --- come and go --- */

static uint32_t take_slot(void)
{
    const uint32_t e = first_free;

    if (e != LEDGER_NONE) {
        first_free = all[e].next;
        return e;
    }
    if (n_used == room) {
        room = room > 0 ? 2 * room : 1024;
        all = memory_own(all, room * sizeof *all);
    }
    return n_used++;
}

uint32_t ledger_entry_new(uint32_t i, uint16_t id)
{
    struct tcp *t = tcp_at(i);
    const uint32_t e = take_slot();

    all[e] = (struct ledger_entry){.tcp = i,
                                   .serial = t->serial,
                                   .id = id,
                                   .state = LEDGER_IN_FLIGHT,
                                   .previous = t->ledger.last_entry,
                                   .next = LEDGER_NONE};
    if (t->ledger.last_entry != LEDGER_NONE)
        all[t->ledger.last_entry].next = e;
    else
        t->ledger.first_entry = e;
    t->ledger.last_entry = e;
    n_entries++;
    if (has_ids && 2 * n_entries > table_size)
        grow_table();
    else if (has_ids)
        enter(e);
    return e;
}

void ledger_entry_free(uint32_t e)
{
    const struct ledger_entry *entry = &all[e];
    struct tcp *t = tcp_at(entry->tcp);

    if (has_ids)
        take_out(position(entry->tcp, entry->serial, entry->id));
    if (entry->previous != LEDGER_NONE)
        all[entry->previous].next = entry->next;
    else
        t->ledger.first_entry = entry->next;
    if (entry->next != LEDGER_NONE)
        all[entry->next].previous = entry->previous;
    else
        t->ledger.last_entry = entry->previous;
    all[e].state = LEDGER_FREE;
    all[e].next = first_free;
    first_free = e;
    n_entries--;
}
