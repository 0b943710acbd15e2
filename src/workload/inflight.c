/* SPDX-License-Identifier: MIT
 * inflight: see workload/inflight.h. */
#include "workload/inflight.h"

#include "workload/id_set.h"

#include <assert.h>
#include <stdlib.h>

#define NONE INFLIGHT_NONE

enum { FEWEST_SLOTS = 64, IDS_PER_SLOT = 128 };

/* So many ids in use of a connection are worth a set of them: to pass over fewer one by one is
 * cheap. */
enum { CROWDED = 1024 };

/* A distance of positions that is not compared with others any more. */
#define LONG_AGO (1u << 30)

/* --- the table of ids --- */

/* Of an id, or of the slot that has the expired ones around it. */
static uint32_t *bucket_of(const struct inflight *t, uint32_t connection, uint16_t id, bool expired)
{
    const uint64_t key = (uint64_t)connection << 17 | (uint64_t)expired << 16 | id;

    /* Fibonacci hashing (Knuth 6.4): the high bits of the product are well mixed */
    return &t->buckets[(uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (t->n_buckets - 1)];
}

static uint32_t *bucket_of_slot(const struct inflight *t, const struct inflight_query *q)
{
    return bucket_of(t, q->connection, q->id, q->state == INFLIGHT_EXPIRED);
}

static void enter_id(struct inflight *t, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];
    uint32_t *bucket = bucket_of_slot(t, q);

    q->hash_next = *bucket;
    *bucket = slot + 1;
}

static void leave_id(struct inflight *t, uint32_t slot)
{
    const struct inflight_query *q = &t->slots[slot];
    uint32_t *link = bucket_of_slot(t, q);

    while (*link != slot + 1)
        link = &t->slots[*link - 1].hash_next;
    *link = q->hash_next;
}

/* Of a query in flight, or of expired ids. */
static uint32_t look_up(const struct inflight *t, uint32_t connection, uint16_t id, bool expired)
{
    for (uint32_t link = *bucket_of(t, connection, id, expired); link != 0;
         link = t->slots[link - 1].hash_next) {
        const struct inflight_query *q = &t->slots[link - 1];

        if (q->id == id && q->connection == connection && (q->state == INFLIGHT_EXPIRED) == expired)
            return link - 1;
    }
    return NONE;
}

/* --- slots --- */

static int grow(struct inflight *t, uint32_t n_slots)
{
    struct inflight_query *slots = realloc(t->slots, n_slots * sizeof *slots);

    if (slots == NULL)
        return -1;
    t->slots = slots;
    if (t->has_ids) {
        uint32_t *buckets = calloc(n_slots, sizeof *buckets);

        if (buckets == NULL)
            return -1;
        free(t->buckets);
        t->buckets = buckets;
        t->n_buckets = n_slots;
        for (uint32_t slot = 0; slot < t->n_touched; slot++)
            if (slots[slot].state > INFLIGHT_QUEUED)
                enter_id(t, slot);
    }
    t->n_slots = n_slots;
    return 0;
}

static uint32_t take_slot(struct inflight *t)
{
    uint32_t slot = t->free_head;

    if (slot != NONE) {
        t->free_head = t->slots[slot].fifo_next;
        return slot;
    }
    if (t->n_touched == t->n_slots && (t->n_slots >= 1u << 31 || grow(t, t->n_slots * 2) != 0))
        return NONE;
    return t->n_touched++;
}

static void free_slot(struct inflight *t, uint32_t slot)
{
    t->slots[slot].state = INFLIGHT_FREE;
    t->slots[slot].fifo_next = t->free_head;
    t->free_head = slot;
}

int inflight_init(struct inflight *t, uint32_t capacity_hint, bool has_ids)
{
    uint32_t n_slots = FEWEST_SLOTS;

    *t = (struct inflight){
        .has_ids = has_ids, .free_head = NONE, .fifo_head = NONE, .fifo_tail = NONE};
    while (n_slots < capacity_hint && n_slots < 1u << 30)
        n_slots *= 2;
    if (grow(t, n_slots) == 0)
        return 0;
    inflight_free(t);
    return -1;
}

void inflight_free(struct inflight *t)
{
    for (uint32_t i = 0; i < t->n_crowds; i++)
        free(t->crowds[i]);
    free(t->crowds);
    free(t->slots);
    free(t->buckets);
    *t = (struct inflight){.free_head = NONE, .fifo_head = NONE, .fifo_tail = NONE};
}

void inflight_list_init(struct inflight_list *list)
{
    *list = (struct inflight_list){.head = NONE,
                                   .tail = NONE,
                                   .waiting_head = NONE,
                                   .queued_head = NONE,
                                   .expired_head = NONE,
                                   .newest_answered = UINT32_MAX, /* before position 0 */
                                   .crowd = NONE};
}

uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag)
{
    const uint32_t slot = take_slot(t);

    if (slot == NONE)
        return NONE;
    t->slots[slot] = (struct inflight_query){
        .intended_ns = intended_ns,
        .connection = connection,
        .state = INFLIGHT_QUEUED,
        .tag = tag,
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

/* --- positions: ids are used in turn --- */

/* Of the latest use of an id. */
static uint32_t position_of(const struct inflight_list *list, uint16_t id)
{
    return list->next_position - 1 - (uint16_t)(list->next_position - 1 - id);
}

static bool is_later(uint32_t position, uint32_t than)
{
    return (int32_t)(position - than) > 0;
}

static void note_answered(struct inflight_list *list, uint16_t id)
{
    const uint32_t position = position_of(list, id);

    if (is_later(position, list->newest_answered))
        list->newest_answered = position;
}

/* --- expired ids --- */

static uint64_t *expired_word(struct inflight *t, uint32_t slot, uint16_t id)
{
    return &t->slots[slot].expired[id % IDS_PER_SLOT / 64];
}

static uint64_t expired_bit(uint16_t id)
{
    return UINT64_C(1) << id % 64;
}

/* The slot in which this id stands as expired, or NONE. */
static uint32_t find_expired(struct inflight *t, const struct inflight_list *list,
                             uint32_t connection, uint16_t id)
{
    uint32_t slot;

    if (list->expired_head == NONE)
        return NONE;
    slot = look_up(t, connection, id / IDS_PER_SLOT, true);
    return slot != NONE && (*expired_word(t, slot, id) & expired_bit(id)) ? slot : NONE;
}

/* A slot that has just left its lists and the table becomes that of expired ids. */
static void begin_expired(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    struct inflight_query *q = &t->slots[slot];

    q->expired[0] = q->expired[1] = 0;
    q->position = position_of(list, q->id);
    q->state = INFLIGHT_EXPIRED;
    q->id /= IDS_PER_SLOT;
    q->conn_prev = NONE;
    q->conn_next = list->expired_head;
    if (list->expired_head != NONE)
        t->slots[list->expired_head].conn_prev = slot;
    list->expired_head = slot;
    enter_id(t, slot);
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
    leave_id(t, slot);
    free_slot(t, slot);
}

/* Needs no memory: where there is none for its neighbours yet the query's own slot becomes it. */
static void add_expired(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const uint16_t id = t->slots[slot].id;
    uint32_t ids = look_up(t, t->slots[slot].connection, id / IDS_PER_SLOT, true);

    if (ids == NONE)
        begin_expired(t, list, ids = slot);
    else
        free_slot(t, slot);
    if (is_later(position_of(list, id), t->slots[ids].position))
        t->slots[ids].position = position_of(list, id);
    *expired_word(t, ids, id) |= expired_bit(id);
}

static void remove_expired(struct inflight *t, struct inflight_list *list, uint32_t slot,
                           uint16_t id)
{
    *expired_word(t, slot, id) &= ~expired_bit(id);
    if (t->slots[slot].expired[0] == 0 && t->slots[slot].expired[1] == 0)
        end_expired(t, list, slot);
    t->n_expired--;
}

/* --- ids --- */

static struct id_set *crowd_of(const struct inflight *t, const struct inflight_list *list)
{
    return list->crowd != NONE ? t->crowds[list->crowd] : NULL;
}

static void release_id(const struct inflight *t, struct inflight_list *list, uint16_t id)
{
    if (list->crowd != NONE)
        id_set_remove(crowd_of(t, list), id);
    list->n_reserved--;
}

static void fill_crowd(const struct inflight *t, const struct inflight_list *list, struct id_set *s)
{
    for (uint32_t i = list->head; i != list->queued_head; i = t->slots[i].conn_next)
        id_set_add(s, t->slots[i].id);
    for (uint32_t i = list->expired_head; i != NONE; i = t->slots[i].conn_next)
        for (unsigned k = 0; k < IDS_PER_SLOT; k++)
            if (t->slots[i].expired[k / 64] >> k % 64 & 1)
                id_set_add(s, (uint16_t)(t->slots[i].id * IDS_PER_SLOT + k));
}

static uint32_t free_crowd(struct inflight *t)
{
    struct id_set **crowds;

    for (uint32_t i = 0; i < t->n_crowds; i++)
        if (t->crowds[i] == NULL)
            return i;
    crowds = realloc(t->crowds, (t->n_crowds + 1) * sizeof(struct id_set *));
    if (crowds == NULL)
        return NONE;
    t->crowds = crowds;
    crowds[t->n_crowds] = NULL;
    return t->n_crowds++;
}

/* Without memory for it the ids in use are passed over one by one. */
static void make_crowd(struct inflight *t, struct inflight_list *list)
{
    const uint32_t i = free_crowd(t);

    if (i == NONE || (t->crowds[i] = calloc(1, sizeof **t->crowds)) == NULL)
        return;
    fill_crowd(t, list, t->crowds[i]);
    list->crowd = i;
}

static bool is_in_use(struct inflight *t, const struct inflight_list *list, uint32_t connection,
                      uint16_t id)
{
    return look_up(t, connection, id, false) != NONE ||
           find_expired(t, list, connection, id) != NONE;
}

/* Moves next_position to the next free id; there is one. */
static void pass_over_used(struct inflight *t, struct inflight_list *list, uint32_t connection)
{
    const uint16_t next = (uint16_t)list->next_position;

    if (!list->wrapped || list->n_reserved == 0)
        return;
    if (list->crowd == NONE && list->n_reserved > CROWDED)
        make_crowd(t, list);
    if (list->crowd != NONE)
        list->next_position += (uint16_t)(id_set_next_free(crowd_of(t, list), next) - next);
    else
        while (is_in_use(t, list, connection, (uint16_t)list->next_position))
            list->next_position++;
}

/* The first expired id of a slot from number `from` of it on; IDS_PER_SLOT: there is none. */
static unsigned first_expired(const struct inflight_query *q, unsigned from)
{
    while (from < IDS_PER_SLOT && (q->expired[from / 64] >> from % 64 & 1) == 0)
        from++;
    return from;
}

/* The first expired id from the next position on, and its slot; NONE: there is none. */
static uint32_t next_expired(const struct inflight *t, const struct inflight_list *list,
                             uint32_t connection, uint16_t *id)
{
    const uint16_t next = (uint16_t)list->next_position;
    unsigned from = next % IDS_PER_SLOT;

    if (list->expired_head == NONE)
        return NONE;
    for (uint32_t n = 0; n <= INFLIGHT_IDS / IDS_PER_SLOT; n++, from = 0) {
        const uint16_t group = (uint16_t)(next + n * IDS_PER_SLOT) / IDS_PER_SLOT;
        const uint32_t slot = look_up(t, connection, group, true);

        if (slot == NONE || (from = first_expired(&t->slots[slot], from)) == IDS_PER_SLOT)
            continue;
        *id = (uint16_t)(group * IDS_PER_SLOT + from);
        return slot;
    }
    return NONE;
}

/* All ids are in use: gives up an expired one, unless it may still be answered. */
static bool recycle(struct inflight *t, struct inflight_list *list, uint32_t connection)
{
    uint16_t id;
    const uint32_t slot = next_expired(t, list, connection, &id);

    if (slot == NONE || (!is_later(list->newest_answered, t->slots[slot].position) &&
                         list->next_position - t->slots[slot].position < LONG_AGO))
        return false;
    list->next_position += (uint16_t)(id - list->next_position);
    remove_expired(t, list, slot, id);
    release_id(t, list, id);
    return true;
}

static void advance_position(struct inflight_list *list)
{
    if (++list->next_position == INFLIGHT_IDS)
        list->wrapped = true;
}

int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled)
{
    const uint32_t slot = list->queued_head;

    assert(slot != NONE);
    *recycled = false;
    if (t->has_ids) {
        const uint32_t connection = t->slots[slot].connection;

        if (list->n_reserved == INFLIGHT_IDS && !(*recycled = recycle(t, list, connection)))
            return -1;
        pass_over_used(t, list, connection);
    }
    t->slots[slot].id = (uint16_t)list->next_position;
    advance_position(list);
    if (t->has_ids) {
        enter_id(t, slot);
        list->n_reserved++;
        if (list->crowd != NONE)
            id_set_add(crowd_of(t, list), t->slots[slot].id);
    }
    return 0;
}

bool inflight_id_was_used(const struct inflight_list *list, uint16_t id)
{
    return list->wrapped || id < list->next_position;
}

/* --- the life of a query --- */

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

/* The first waiting one waits no more. */
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

uint32_t inflight_find(const struct inflight *t, const struct inflight_list *list,
                       uint32_t connection, uint16_t id)
{
    const uint32_t head = list->head;
    uint32_t slot;

    if (head == NONE || t->slots[head].state != INFLIGHT_SENT)
        return NONE;
    if (!t->has_ids)
        return list->n_reserved == 0 ? head : NONE;
    /* answers mostly come in order: the first query of the list needs no look into the table */
    if (t->slots[head].id == id)
        return head;
    slot = look_up(t, connection, id, false);
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
    slot = find_expired(t, list, connection, id);
    if (slot == NONE)
        return false;
    remove_expired(t, list, slot, id);
    release_id(t, list, id);
    note_answered(list, id);
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

/* Out of all lists and the table; its id stays in use. */
static void leave(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    if (t->slots[slot].state == INFLIGHT_QUEUED) {
        t->n_queued--;
    } else {
        leave_fifo(t, &t->slots[slot]);
        if (t->has_ids)
            leave_id(t, slot);
    }
    leave_list(t, list, slot);
}

void inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state == INFLIGHT_WAITING || t->slots[slot].state == INFLIGHT_SENT);
    if (t->slots[slot].state == INFLIGHT_WAITING) {
        inflight_remove(t, list, slot);
        return;
    }
    leave(t, list, slot);
    t->n_expired++;
    if (t->has_ids) {
        add_expired(t, list, slot);
    } else {
        list->n_reserved++;
        free_slot(t, slot);
    }
}

void inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state == INFLIGHT_SENT);
    if (t->has_ids)
        note_answered(list, t->slots[slot].id);
    inflight_remove(t, list, slot);
}

void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    assert(t->slots[slot].state > INFLIGHT_FREE && t->slots[slot].state < INFLIGHT_EXPIRED);
    leave(t, list, slot);
    if (t->has_ids && t->slots[slot].state != INFLIGHT_QUEUED)
        release_id(t, list, t->slots[slot].id);
    free_slot(t, slot);
}

void inflight_forget(struct inflight *t, struct inflight_list *list)
{
    assert(list->head == NONE);
    while (list->expired_head != NONE) {
        const struct inflight_query *q = &t->slots[list->expired_head];

        t->n_expired -=
            (unsigned)(__builtin_popcountll(q->expired[0]) + __builtin_popcountll(q->expired[1]));
        end_expired(t, list, list->expired_head);
    }
    if (!t->has_ids)
        t->n_expired -= list->n_reserved;
    if (list->crowd != NONE) {
        free(t->crowds[list->crowd]);
        t->crowds[list->crowd] = NULL;
    }
    inflight_list_init(list);
}
