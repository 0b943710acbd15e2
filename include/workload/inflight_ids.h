/* SPDX-License-Identifier: MIT
 * inflight_ids: selects the id, out of 65,536 per connection, of the next query.
 *
 * Ids are used in turn, skipping those in use: of a query in flight, or of an expired query whose
 * answer has not arrived.  Expired ids are bits in slots of 128 ids each, so only the first of 128
 * neighbours needs a slot, and no other memory is needed.  If a connection has many ids in use, a
 * set of them (workload/id_set.h) finds the next free one. */
#ifndef TCPSCALER_WORKLOAD_INFLIGHT_IDS_H
#define TCPSCALER_WORKLOAD_INFLIGHT_IDS_H

#include "workload/inflight_slots.h"

#include <assert.h>

/* inflight_assign_id() for a connection whose next id may be in use. */
int inflight_ids_assign_free(struct inflight *t, struct inflight_list *list, bool *recycled);

/* Moves on to the id after the next one. */
static inline void inflight_ids_advance(struct inflight_list *list)
{
    if (++list->next_position == INFLIGHT_IDS)
        list->wrapped = true;
}

/* Gives list->queued_head (which must exist) the next free id.  Returns 0; the next call must be
 * inflight_mark_sent().  Returns -1 if all ids are in use.  *recycled: the id of an expired query
 * was reused for it. */
static inline int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    assert(list->queued_head != INFLIGHT_NONE);
    if (t->has_ids && (list->wrapped || list->indexed))
        return inflight_ids_assign_free(t, list, recycled);
    *recycled = false;
    t->slots[list->queued_head].id = (uint16_t)list->next_position;
    inflight_ids_advance(list);
    list->n_reserved += t->has_ids;
    return 0;
}

/* Returns whether the connection ever used this id.  If so, an answer without a query is a
 * duplicate; otherwise its id is unknown. */
bool inflight_id_was_used(const struct inflight_list *list, uint16_t id);

/* Returns the position of the latest use of an id.  Positions keep counting when ids wrap around.
 */
static inline uint32_t inflight_ids_position(const struct inflight_list *list, uint16_t id)
{
    return list->next_position - 1 - (uint16_t)(list->next_position - 1 - id);
}

static inline bool inflight_ids_is_later(uint32_t position, uint32_t than)
{
    return (int32_t)(position - than) > 0;
}

/* Notes that an answer with this id has arrived. */
static inline void inflight_ids_note_answered(struct inflight_list *list, uint16_t id)
{
    const uint32_t position = inflight_ids_position(list, id);

    if (inflight_ids_is_later(position, list->newest_answered))
        list->newest_answered = position;
}

/* The queries up to the newest one that was answered: those answered, unless some were not or ids
 * were skipped.  0 without ids. */
static inline uint32_t inflight_ids_answered(const struct inflight_list *list)
{
    return list->newest_answered + 1;
}

/* Only for a connection that has a set of its ids in use: removes this one. */
void inflight_ids_remove_from_set(const struct inflight *t, const struct inflight_list *list,
                                  uint16_t id);

/* Frees the id. */
static inline void inflight_ids_release(const struct inflight *t, struct inflight_list *list,
                                        uint16_t id)
{
    if (list->id_set != INFLIGHT_NONE)
        inflight_ids_remove_from_set(t, list, id);
    list->n_reserved--;
}

/* Returns the slot that contains this id as expired, or INFLIGHT_NONE. */
uint32_t inflight_ids_find_expired(const struct inflight *t, const struct inflight_list *list,
                                   uint32_t connection, uint16_t id);

/* Adds the id of a query that was just removed from its lists and the table, with its slot.  Needs
 * no memory: if its neighbours have no slot yet, it uses the query's. */
void inflight_ids_add_expired(struct inflight *t, struct inflight_list *list, uint32_t slot);
void inflight_ids_remove_expired(struct inflight *t, struct inflight_list *list, uint32_t slot,
                                 uint16_t id);

/* The connection has no more ids in use. */
void inflight_ids_forget(struct inflight *t, struct inflight_list *list);

/* Frees what all connections share. */
void inflight_ids_free(struct inflight *t);

#endif
