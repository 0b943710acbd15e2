/* SPDX-License-Identifier: MIT
 * inflight: see inflight.h. */
#include "inflight.h"

#include <assert.h>
#include <stdlib.h>

#define NONE INFLIGHT_NONE

enum { FEWEST_SLOTS = 64 };

static uint32_t bucket_of(const struct inflight *t, uint32_t connection, uint16_t id)
{
    const uint64_t key = (uint64_t)connection << 16 | id;

    /* Fibonacci hashing (Knuth 6.4): the high bits of the product are well mixed */
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (t->n_buckets - 1);
}

static bool has_id(const struct inflight_query *q)
{
    return q->state == INFLIGHT_SENT || q->state == INFLIGHT_EXPIRED;
}

static void enter_id(struct inflight *t, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];
    uint32_t *bucket = &t->buckets[bucket_of(t, q->connection, q->id)];

    q->hash_next = *bucket;
    *bucket = slot;
}

static void leave_id(struct inflight *t, uint32_t slot)
{
    const struct inflight_query *q = &t->slots[slot];
    uint32_t *link = &t->buckets[bucket_of(t, q->connection, q->id)];

    while (*link != slot)
        link = &t->slots[*link].hash_next;
    *link = q->hash_next;
}

static void add_free_slots(struct inflight *t, uint32_t first, uint32_t end)
{
    for (uint32_t slot = end; slot-- > first;) {
        t->slots[slot] = (struct inflight_query){.fifo_next = t->free_head};
        t->free_head = slot;
    }
}

static int grow(struct inflight *t, uint32_t n_slots)
{
    struct inflight_query *slots = realloc(t->slots, n_slots * sizeof *slots);
    uint32_t *buckets, n_before = t->n_slots;

    if (slots == NULL)
        return -1;
    t->slots = slots;
    buckets = realloc(t->buckets, n_slots * sizeof *buckets);
    if (buckets == NULL)
        return -1;
    t->buckets = buckets;
    t->n_slots = t->n_buckets = n_slots;
    add_free_slots(t, n_before, n_slots);
    for (uint32_t i = 0; i < n_slots; i++)
        buckets[i] = NONE;
    for (uint32_t slot = 0; slot < n_before; slot++)
        if (has_id(&slots[slot]))
            enter_id(t, slot);
    return 0;
}

int inflight_init(struct inflight *t, uint32_t capacity_hint)
{
    uint32_t n_slots = FEWEST_SLOTS;

    *t = (struct inflight){.free_head = NONE, .fifo_head = NONE, .fifo_tail = NONE};
    while (n_slots < capacity_hint && n_slots < 1u << 30)
        n_slots *= 2;
    if (grow(t, n_slots) == 0)
        return 0;
    inflight_free(t);
    return -1;
}

void inflight_free(struct inflight *t)
{
    free(t->slots);
    free(t->buckets);
    *t = (struct inflight){.free_head = NONE, .fifo_head = NONE, .fifo_tail = NONE};
}

void inflight_list_init(struct inflight_list *list)
{
    *list = (struct inflight_list){.head = NONE, .tail = NONE, .queued_head = NONE};
}

uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag)
{
    uint32_t slot;

    if (t->free_head == NONE && (t->n_slots >= 1u << 31 || grow(t, t->n_slots * 2) != 0))
        return NONE;
    slot = t->free_head;
    t->free_head = t->slots[slot].fifo_next;
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

uint32_t inflight_find(const struct inflight *t, const struct inflight_list *list,
                       uint32_t connection, uint16_t id)
{
    const uint32_t head = list->head;

    /* answers mostly come in order: the first query of the list needs no look into the hash table
     */
    if (head != NONE && has_id(&t->slots[head]) && t->slots[head].id == id)
        return head;
    if (list->n_with_id == 0)
        return NONE;
    for (uint32_t slot = t->buckets[bucket_of(t, connection, id)]; slot != NONE;
         slot = t->slots[slot].hash_next)
        if (t->slots[slot].id == id && t->slots[slot].connection == connection)
            return slot;
    return NONE;
}

static uint32_t longest_expired(const struct inflight *t, const struct inflight_list *list)
{
    uint32_t slot = list->head;

    while (slot != list->queued_head && t->slots[slot].state != INFLIGHT_EXPIRED)
        slot = t->slots[slot].conn_next;
    return slot != list->queued_head ? slot : NONE;
}

static uint16_t take_id(struct inflight_list *list)
{
    const uint16_t id = list->next_id++;

    if (list->next_id == 0)
        list->ids_wrapped = true;
    return id;
}

int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    const uint32_t slot = list->queued_head;
    const uint32_t connection = t->slots[slot].connection;

    assert(slot != NONE);
    *recycled = false;
    if (list->n_with_id == INFLIGHT_IDS) {
        uint32_t expired = longest_expired(t, list);

        if (expired == NONE)
            return -1;
        inflight_remove(t, list, expired);
        *recycled = true;
    }
    while (list->ids_wrapped && inflight_find(t, list, connection, list->next_id) != NONE)
        take_id(list);
    t->slots[slot].id = take_id(list);
    enter_id(t, slot);
    list->n_with_id++;
    return 0;
}

void inflight_mark_sent(struct inflight *t, struct inflight_list *list, uint64_t sent_ns)
{
    const uint32_t slot = list->queued_head;
    struct inflight_query *q = &t->slots[slot];

    assert(q->state == INFLIGHT_QUEUED);
    q->state = INFLIGHT_SENT;
    q->sent_ns = sent_ns;
    list->queued_head = q->conn_next;
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

bool inflight_id_was_used(const struct inflight_list *list, uint16_t id)
{
    return list->ids_wrapped || id < list->next_id;
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

void inflight_expire(struct inflight *t, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];

    assert(q->state == INFLIGHT_SENT);
    leave_fifo(t, q);
    q->state = INFLIGHT_EXPIRED;
    t->n_expired++;
}

static void leave_list(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = &t->slots[slot];

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

void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];

    assert(q->state != INFLIGHT_FREE);
    if (q->state == INFLIGHT_QUEUED) {
        t->n_queued--;
    } else {
        leave_id(t, slot);
        list->n_with_id--;
        if (q->state == INFLIGHT_SENT)
            leave_fifo(t, q);
        else
            t->n_expired--;
    }
    leave_list(t, list, slot);
    q->state = INFLIGHT_FREE;
    q->fifo_next = t->free_head;
    t->free_head = slot;
}
