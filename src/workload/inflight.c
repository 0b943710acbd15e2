/* SPDX-License-Identifier: MIT
 * inflight: see workload/inflight.h. */
#include "workload/inflight.h"

#include <assert.h>

#define NONE INFLIGHT_NONE

int inflight_init(struct inflight *t, uint32_t capacity_hint, bool has_ids)
{
    return inflight_slots_init(t, capacity_hint, has_ids);
}

void inflight_free(struct inflight *t)
{
    inflight_ids_free(t);
    inflight_slots_free(t);
}

void inflight_list_init(struct inflight_list *list)
{
    *list = (struct inflight_list){.head = NONE,
                                   .tail = NONE,
                                   .waiting_head = NONE,
                                   .queued_head = NONE,
                                   .expired_head = NONE,
                                   .newest_answered = UINT32_MAX, /* before position 0 */
                                   .id_set = NONE};
}

uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag)
{
    const uint32_t slot = inflight_slots_take(t);

    if (slot == NONE)
        return NONE;
    t->slots[slot] = (struct inflight_query){
        .intended_ns = intended_ns,
        .connection = connection,
        .state = INFLIGHT_QUEUED,
        .tag = tag,
        .hash_next = NONE,
        .conn_prev = list->tail,
        .conn_next = NONE,
        .fifo_prev = NONE,
        .fifo_next = NONE,
    };
    if (list->tail != NONE)
        t->slots[list->tail].conn_next = slot;
    else
        list->head = slot;
    list->tail = slot;
    if (list->queued_head == NONE)
        list->queued_head = slot;
    t->n_queued++;
    return slot;
}

/* The first waiting query no longer waits. */
static void advance_waiting(const struct inflight *t, struct inflight_list *list)
{
    const uint32_t next = t->slots[list->waiting_head].conn_next;

    list->waiting_head = next != list->queued_head ? next : NONE;
}

void inflight_mark_written(struct inflight *t, struct inflight_list *list)
{
    t->slots[list->waiting_head].state = INFLIGHT_SENT;
    advance_waiting(t, list);
}

/* Of an answer that is not that of the first query. */
static uint32_t find_later(struct inflight *t, struct inflight_list *list, uint32_t connection,
                           uint16_t id)
{
    uint32_t slot;

    if (!list->indexed)
        inflight_slots_index(t, list);
    slot = inflight_slots_look_up(t, connection, id, false);
    return slot != NONE && t->slots[slot].state == INFLIGHT_SENT ? slot : NONE;
}

uint32_t inflight_find(struct inflight *t, struct inflight_list *list, uint32_t connection,
                       uint16_t id)
{
    const uint32_t head = list->head;

    if (head == NONE || t->slots[head].state != INFLIGHT_SENT)
        return NONE;
    if (!t->has_ids)
        return list->n_reserved == 0 ? head : NONE;
    return t->slots[head].id == id ? head : find_later(t, list, connection, id);
}

bool inflight_take_late(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint16_t id)
{
    uint32_t slot;

    if (!t->has_ids) {
        const bool owed = list->n_reserved > 0;

        list->n_reserved -= owed;
        t->n_expired -= owed;
        return owed;
    }
    slot = inflight_ids_find_expired(t, list, connection, id);
    if (slot == NONE)
        return false;
    inflight_ids_remove_expired(t, list, slot, id);
    inflight_ids_release(t, list, id);
    inflight_ids_note_answered(list, id);
    return true;
}

static void leave_fifo(struct inflight *t, const struct inflight_query *q)
{
    if (q->fifo_prev != NONE)
        t->slots[q->fifo_prev].fifo_next = q->fifo_next;
    else
        t->fifo_head = q->fifo_next;
    if (q->fifo_next != NONE)
        t->slots[q->fifo_next].fifo_prev = q->fifo_prev;
    else
        t->fifo_tail = q->fifo_prev;
    t->n_sent--;
}

static void leave_list(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = &t->slots[slot];

    if (list->waiting_head == slot)
        advance_waiting(t, list);
    if (list->queued_head == slot)
        list->queued_head = q->conn_next;
    if (q->conn_prev != NONE)
        t->slots[q->conn_prev].conn_next = q->conn_next;
    else
        list->head = q->conn_next;
    if (q->conn_next != NONE)
        t->slots[q->conn_next].conn_prev = q->conn_prev;
    else
        list->tail = q->conn_prev;
}

/* Removes a waiting or sent query from all lists and the table; its id stays in use.  Inline:
 * with calls, removing the query of an answer took half as many instructions again. */
static inline void leave_flight(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    leave_fifo(t, &t->slots[slot]);
    if (t->slots[slot].hash_next != NONE)
        inflight_slots_leave(t, slot);
    leave_list(t, list, slot);
    if (list->head == list->queued_head)
        list->indexed = false;
}

/* Removes a waiting or sent query, which is owed no answer. */
static inline void remove_from_flight(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    leave_flight(t, list, slot);
    if (t->has_ids)
        inflight_ids_release(t, list, t->slots[slot].id);
    inflight_slots_release(t, slot);
}

void inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state == INFLIGHT_WAITING || t->slots[slot].state == INFLIGHT_SENT);
    if (t->slots[slot].state == INFLIGHT_WAITING) {
        inflight_remove(t, list, slot);
        return;
    }
    leave_flight(t, list, slot);
    t->n_expired++;
    if (t->has_ids) {
        inflight_ids_add_expired(t, list, slot);
    } else {
        list->n_reserved++;
        inflight_slots_release(t, slot);
    }
}

void inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state == INFLIGHT_SENT);
    if (t->has_ids)
        inflight_ids_note_answered(list, t->slots[slot].id);
    remove_from_flight(t, list, slot);
}

void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state > INFLIGHT_FREE && t->slots[slot].state < INFLIGHT_EXPIRED);
    if (t->slots[slot].state != INFLIGHT_QUEUED) {
        remove_from_flight(t, list, slot);
        return;
    }
    t->n_queued--;
    leave_list(t, list, slot);
    inflight_slots_release(t, slot);
}

void inflight_forget(struct inflight *t, struct inflight_list *list)
{
    assert(list->head == NONE);
    inflight_ids_forget(t, list);
    if (!t->has_ids)
        t->n_expired -= list->n_reserved;
    inflight_list_init(list);
}
