/* SPDX-License-Identifier: MIT
 * inflight_ids: which of the 65,536 ids of a connection its next query gets.
 *
 * Ids are used in turn.  Those in use are passed over: a query's in flight, and an expired query's
 * until its answer has come.  Expired ids are bits in slots of 128 of them, so that a slot, and no
 * memory beyond it, is needed for the first one of 128.  Where a connection has many ids in use a
 * set of them (workload/id_set.h) finds the next free one. */
#ifndef TCPSCALER_WORKLOAD_INFLIGHT_IDS_H
#define TCPSCALER_WORKLOAD_INFLIGHT_IDS_H

#include "workload/inflight_slots.h"

/* Gives list->queued_head (which must exist) the next free id and enters it under (connection, id).
 * Returns 0, and inflight_mark_sent() has to be the next call; or -1 when all ids are in use.
 * *recycled: the id of an expired query was given up for it. */
int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled);

/* Whether the connection has ever used this id: an answer to it that finds no query is a duplicate,
 * otherwise its id is unknown. */
bool inflight_id_was_used(const struct inflight_list *list, uint16_t id);

/* Of the latest use of an id; positions count on where ids begin anew. */
static inline uint32_t inflight_ids_position(const struct inflight_list *list, uint16_t id)
{
    return list->next_position - 1 - (uint16_t)(list->next_position - 1 - id);
}

static inline bool inflight_ids_is_later(uint32_t position, uint32_t than)
{
    return (int32_t)(position - than) > 0;
}

/* An answer with this id has come. */
static inline void inflight_ids_note_answered(struct inflight_list *list, uint16_t id)
{
    const uint32_t position = inflight_ids_position(list, id);

    if (inflight_ids_is_later(position, list->newest_answered))
        list->newest_answered = position;
}

/* Of a connection that has a set of its ids in use. */
void inflight_ids_leave_crowd(const struct inflight *t, const struct inflight_list *list,
                              uint16_t id);

/* The id is free again. */
static inline void inflight_ids_release(const struct inflight *t, struct inflight_list *list,
                                        uint16_t id)
{
    if (list->crowd != INFLIGHT_NONE)
        inflight_ids_leave_crowd(t, list, id);
    list->n_reserved--;
}

/* The slot in which this id stands as expired, or INFLIGHT_NONE. */
uint32_t inflight_ids_find_expired(const struct inflight *t, const struct inflight_list *list,
                                   uint32_t connection, uint16_t id);

/* The id of a query that has just left its lists and the table, and its slot.  Needs no memory:
 * where there is none for its neighbours yet the query's own slot becomes it. */
void inflight_ids_add_expired(struct inflight *t, struct inflight_list *list, uint32_t slot);
void inflight_ids_remove_expired(struct inflight *t, struct inflight_list *list, uint32_t slot,
                                 uint16_t id);

/* The connection has no ids in use any more. */
void inflight_ids_forget(struct inflight *t, struct inflight_list *list);

/* Frees what is common to all connections. */
void inflight_ids_free(struct inflight *t);

#endif
