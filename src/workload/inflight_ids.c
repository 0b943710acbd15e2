/* SPDX-License-Identifier: MIT
 * inflight_ids: see workload/inflight_ids.h. */
#include "workload/inflight_ids.h"

#include "workload/id_set.h"

#include <stdlib.h>

#define NONE INFLIGHT_NONE

enum { IDS_PER_SLOT = 128 };

/* With more ids in use a set of them pays off; up to this many are skipped one by one. */
enum { MOST_WITHOUT_SET = 1024 };

/* Distance from which positions are no longer compared. */
#define LONG_AGO (1u << 30)

/* --- expired ids --- */

static uint64_t *expired_word(const struct inflight *t, uint32_t slot, uint16_t id)
{
    return &t->slots[slot].expired[id % IDS_PER_SLOT / 64];
}

static uint64_t expired_bit(uint16_t id)
{
    return UINT64_C(1) << id % 64;
}

uint32_t inflight_ids_find_expired(const struct inflight *t, const struct inflight_list *list,
                                   uint32_t connection, uint16_t id)
{
    uint32_t slot;

    if (list->expired_head == NONE)
        return NONE;
    slot = inflight_slots_look_up(t, connection, id / IDS_PER_SLOT, true);
    return slot != NONE && (*expired_word(t, slot, id) & expired_bit(id)) ? slot : NONE;
}

/* In tenths of a second, which wrap around after 13 years: a server may be sent queries for weeks
 * before all ids of a connection are in use. */
static uint32_t to_ds(uint64_t at_ns)
{
    return (uint32_t)(at_ns / 100000000);
}

/* Reuses a slot, just removed from its lists and the table, for expired ids. */
static void begin_expired(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];

    q->expired[0] = q->expired[1] = 0;
    q->position = inflight_ids_position(list, q->id);
    q->state = INFLIGHT_EXPIRED;
    q->id /= IDS_PER_SLOT;
    q->conn_prev = NONE;
    q->conn_next = list->expired_head;
    if (list->expired_head != NONE)
        t->slots[list->expired_head].conn_prev = slot;
    list->expired_head = slot;
    inflight_slots_enter(t, slot);
}

static void end_expired(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = &t->slots[slot];

    if (q->conn_prev != NONE)
        t->slots[q->conn_prev].conn_next = q->conn_next;
    else
        list->expired_head = q->conn_next;
    if (q->conn_next != NONE)
        t->slots[q->conn_next].conn_prev = q->conn_prev;
    inflight_slots_leave(t, slot);
    inflight_slots_release(t, slot);
}

void inflight_ids_add_expired(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const uint16_t id = t->slots[slot].id;
    const uint32_t sent_ds = to_ds(t->slots[slot].sent_ns);
    uint32_t ids = inflight_slots_look_up(t, t->slots[slot].connection, id / IDS_PER_SLOT, true);

    if (ids == NONE)
        begin_expired(t, list, ids = slot);
    else
        inflight_slots_release(t, slot);
    if (inflight_ids_is_later(inflight_ids_position(list, id), t->slots[ids].position))
        t->slots[ids].position = inflight_ids_position(list, id);
    t->slots[ids].sent_ds = sent_ds;
    *expired_word(t, ids, id) |= expired_bit(id);
}

void inflight_ids_remove_expired(struct inflight *t, struct inflight_list *list, uint32_t slot,
                                 uint16_t id)
{
    *expired_word(t, slot, id) &= ~expired_bit(id);
    if (t->slots[slot].expired[0] == 0 && t->slots[slot].expired[1] == 0)
        end_expired(t, list, slot);
    t->n_expired--;
}

/* --- ids in use --- */

static struct id_set *id_set_of(const struct inflight *t, const struct inflight_list *list)
{
    return list->id_set != NONE ? t->id_sets[list->id_set] : NULL;
}

void inflight_ids_remove_from_set(const struct inflight *t, const struct inflight_list *list,
                                  uint16_t id)
{
    id_set_remove(id_set_of(t, list), id);
}

static void fill_id_set(const struct inflight *t, const struct inflight_list *list,
                        struct id_set *s)
{
    for (uint32_t i = list->head; i != list->queued_head; i = t->slots[i].conn_next)
        id_set_add(s, t->slots[i].id);
    for (uint32_t i = list->expired_head; i != NONE; i = t->slots[i].conn_next)
        for (unsigned k = 0; k < IDS_PER_SLOT; k++)
            if (t->slots[i].expired[k / 64] >> k % 64 & 1)
                id_set_add(s, (uint16_t)(t->slots[i].id * IDS_PER_SLOT + k));
}

static uint32_t unused_id_set(struct inflight *t)
{
    struct id_set **id_sets;

    for (uint32_t i = 0; i < t->n_id_sets; i++)
        if (t->id_sets[i] == NULL)
            return i;
    id_sets = realloc(t->id_sets, (t->n_id_sets + 1) * sizeof(struct id_set *));
    if (id_sets == NULL)
        return NONE;
    t->id_sets = id_sets;
    id_sets[t->n_id_sets] = NULL;
    return t->n_id_sets++;
}

/* Without memory for a set, the ids in use are skipped one by one. */
static void make_id_set(struct inflight *t, struct inflight_list *list)
{
    const uint32_t i = unused_id_set(t);

    if (i == NONE || (t->id_sets[i] = calloc(1, sizeof **t->id_sets)) == NULL)
        return;
    fill_id_set(t, list, t->id_sets[i]);
    list->id_set = i;
}

/* Ids are used in turn, so unless one in flight has been skipped, the first of the list is the next
 * one to be reached. */
static bool is_in_use(struct inflight *t, struct inflight_list *list, uint32_t connection,
                      uint16_t id)
{
    if (!list->indexed && list->head != list->queued_head && t->slots[list->head].id == id)
        inflight_slots_index(t, list);
    return (list->indexed && inflight_slots_look_up(t, connection, id, false) != NONE) ||
           inflight_ids_find_expired(t, list, connection, id) != NONE;
}

/* Moves next_position to the next free id, which must exist. */
static void pass_over_used(struct inflight *t, struct inflight_list *list, uint32_t connection)
{
    const uint16_t next = (uint16_t)list->next_position;

    if (!list->wrapped || list->n_reserved == 0)
        return;
    if (list->id_set == NONE && list->n_reserved > MOST_WITHOUT_SET)
        make_id_set(t, list);
    if (list->id_set != NONE)
        list->next_position += (uint16_t)(id_set_next_free(id_set_of(t, list), next) - next);
    else
        while (is_in_use(t, list, connection, (uint16_t)list->next_position))
            list->next_position++;
}

/* --- the next id --- */

/* Returns the first expired id of a slot from its number `from` on; IDS_PER_SLOT: none. */
static unsigned first_expired(const struct inflight_query *q, unsigned from)
{
    while (from < IDS_PER_SLOT && (q->expired[from / 64] >> from % 64 & 1) == 0)
        from++;
    return from;
}

/* Finds the first expired id from the next position on, and its slot; NONE: none. */
static uint32_t next_expired(const struct inflight *t, const struct inflight_list *list,
                             uint32_t connection, uint16_t *id)
{
    const uint16_t next = (uint16_t)list->next_position;
    unsigned from = next % IDS_PER_SLOT;

    if (list->expired_head == NONE)
        return NONE;
    for (uint32_t n = 0; n <= INFLIGHT_IDS / IDS_PER_SLOT; n++, from = 0) {
        const uint16_t group = (uint16_t)(next + n * IDS_PER_SLOT) / IDS_PER_SLOT;
        const uint32_t slot = inflight_slots_look_up(t, connection, group, true);

        if (slot == NONE || (from = first_expired(&t->slots[slot], from)) == IDS_PER_SLOT)
            continue;
        *id = (uint16_t)(group * IDS_PER_SLOT + from);
        return slot;
    }
    return NONE;
}

/* Whether the expired ids of a slot may still be answered, when the first queued query was due. */
static bool may_be_answered(const struct inflight *t, const struct inflight_list *list,
                            uint32_t slot)
{
    const struct inflight_query *ids = &t->slots[slot];
    const uint32_t due_ds = to_ds(t->slots[list->queued_head].intended_ns);
    const int32_t age_ds = (int32_t)(due_ds - ids->sent_ds); /* too high by up to 1 */

    if (age_ds <= (int64_t)(t->reuse_ns / 100000000))
        return true;
    return !inflight_ids_is_later(list->newest_answered, ids->position) &&
           list->next_position - ids->position < LONG_AGO;
}

/* All ids are in use: reuses an expired one, unless it may still be answered. */
static bool recycle(struct inflight *t, struct inflight_list *list, uint32_t connection)
{
    uint16_t id;
    const uint32_t slot = next_expired(t, list, connection, &id);

    if (slot == NONE || may_be_answered(t, list, slot))
        return false;
    list->next_position += (uint16_t)(id - list->next_position);
    inflight_ids_remove_expired(t, list, slot, id);
    inflight_ids_release(t, list, id);
    return true;
}

int inflight_ids_assign_free(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    const uint32_t slot = list->queued_head, connection = t->slots[slot].connection;

    *recycled = false;
    if (list->n_reserved == INFLIGHT_IDS && !(*recycled = recycle(t, list, connection)))
        return -1;
    pass_over_used(t, list, connection);
    t->slots[slot].id = (uint16_t)list->next_position;
    inflight_ids_advance(list);
    list->n_reserved++;
    if (list->indexed)
        inflight_slots_enter(t, slot);
    if (list->id_set != NONE)
        id_set_add(id_set_of(t, list), t->slots[slot].id);
    return 0;
}

bool inflight_id_was_used(const struct inflight_list *list, uint16_t id)
{
    return list->wrapped || id < list->next_position;
}

void inflight_ids_forget(struct inflight *t, struct inflight_list *list)
{
    while (list->expired_head != NONE) {
        const struct inflight_query *q = &t->slots[list->expired_head];

        t->n_expired -=
            (unsigned)(__builtin_popcountll(q->expired[0]) + __builtin_popcountll(q->expired[1]));
        end_expired(t, list, list->expired_head);
    }
    if (list->id_set != NONE) {
        free(t->id_sets[list->id_set]);
        t->id_sets[list->id_set] = NULL;
    }
}

void inflight_ids_free(struct inflight *t)
{
    for (uint32_t i = 0; i < t->n_id_sets; i++)
        free(t->id_sets[i]);
    free(t->id_sets);
}
