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

void inflight_mark_sent(struct inflight *t, struct inflight_list *list, uint64_t sent_ns)
{
    const uint32_t slot = list->queued_head;
    struct inflight_query *q = &t->slots[slot];

    assert(q->state == INFLIGHT_QUEUED);
    q->state = INFLIGHT_WAITING;
    q->sent_ns = sent_ns;
    list->queued_head = q->conn_next;
    if (list->waiting_head == NONE)
        list->waiting_head = slot;
    q->fifo_prev = t->fifo_tail;
    q->fifo_next = NONE;
    if (t->fifo_tail != NONE)
        t->slots[t->fifo_tail].fifo_next = slot;
    else
        t->fifo_head = slot;
    t->fifo_tail = slot;
    t->n_queued--;
    t->n_sent++;
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

uint32_t inflight_find(struct inflight *t, struct inflight_list *list, uint32_t connection,
                       uint16_t id)
{
    const uint32_t head = list->head;
    uint32_t slot;

    if (head == NONE || t->slots[head].state != INFLIGHT_SENT)
        return NONE;
    if (!t->has_ids)
        return list->n_reserved == 0 ? head : NONE;
    if (t->slots[head].id == id)
        return head;
    if (!list->indexed)
        inflight_slots_index(t, list);
    slot = inflight_slots_look_up(t, connection, id, false);
    return slot != NONE && t->slots[slot].state == INFLIGHT_SENT ? slot : NONE;
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

/* Removes the query from all lists and the table; its id stays in use. */
static void unlink_query(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    if (t->slots[slot].state == INFLIGHT_QUEUED) {
        t->n_queued--;
    } else {
        leave_fifo(t, &t->slots[slot]);
        if (t->slots[slot].hash_next != NONE)
            inflight_slots_leave(t, slot);
    }
    leave_list(t, list, slot);
    if (list->head == list->queued_head)
        list->indexed = false;
}

void inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state == INFLIGHT_WAITING || t->slots[slot].state == INFLIGHT_SENT);
    if (t->slots[slot].state == INFLIGHT_WAITING) {
        inflight_remove(t, list, slot);
        return;
    }
    unlink_query(t, list, slot);
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
    inflight_remove(t, list, slot);
}

void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state > INFLIGHT_FREE && t->slots[slot].state < INFLIGHT_EXPIRED);
    unlink_query(t, list, slot);
    if (t->has_ids && t->slots[slot].state != INFLIGHT_QUEUED)
        inflight_ids_release(t, list, t->slots[slot].id);
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
