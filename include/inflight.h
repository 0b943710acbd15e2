/* SPDX-License-Identifier: MIT
 * inflight: the queries of one worker that are queued, in flight or given up but still owed an
 * answer; keyed (connection, id).  Memory is proportional to queries, not to connections.
 *
 * Pure; one owner thread.  A query is a slot number: pointers are valid until the next
 * inflight_queue().  Each connection embeds one struct inflight_list; its queries stand there in
 * the order they were queued: first the sent and the expired ones, then the queued ones.
 *
 *   queue -> [QUEUED] -> assign_id, mark_sent -> [SENT] -> remove (answered, error)
 *                                                  \-> expire -> [EXPIRED] -> remove (late answer)
 *
 * An expired query keeps its id, so that a late answer is never credited to a newer query; when a
 * connection has used up all 65,536 ids the longest expired one is given up and its id used again.
 * When none is expired there is no id: the caller's queries wait, keeping their intended time. */
#ifndef TCPSCALER_INFLIGHT_H
#define TCPSCALER_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INFLIGHT_NONE UINT32_MAX
#define INFLIGHT_IDS  65536u

enum inflight_state { INFLIGHT_FREE, INFLIGHT_QUEUED, INFLIGHT_SENT, INFLIGHT_EXPIRED };

/* 48 bytes: one and a half to a cache line pair; the links are slot numbers. */
struct inflight_query {
    uint64_t intended_ns;
    union {
        uint64_t asked;   /* QUEUED: the caller's: what it asks */
        uint64_t sent_ns; /* afterwards */
    };
    uint32_t connection;
    uint16_t id; /* valid from assign_id on */
    uint8_t state;
    uint8_t tag; /* the caller's: what the query counts for */
    uint32_t hash_next;
    uint32_t conn_prev, conn_next;
    uint32_t fifo_prev, fifo_next; /* sent queries by send time; free slots use fifo_next */
    uint32_t gap_us;               /* the caller's: arrival gap before it, for the raw rows */
};

/* Embedded in the connection, initialised by inflight_list_init. */
struct inflight_list {
    uint32_t head, tail;  /* all its queries */
    uint32_t queued_head; /* the first not yet sent */
    uint32_t n_with_id;   /* sent and expired: ids in use, <= 65,536 */
    uint16_t next_id;
    bool ids_wrapped; /* every id has been used at least once */
};

struct inflight {
    struct inflight_query *slots;
    uint32_t n_slots, free_head;
    uint32_t *buckets;
    uint32_t n_buckets; /* a power of two */
    uint32_t fifo_head, fifo_tail;
    uint32_t n_queued, n_sent, n_expired;
};

/* Room for capacity_hint queries to begin with; it grows by doubling.  Returns 0 or -1 (memory). */
int inflight_init(struct inflight *t, uint32_t capacity_hint);
void inflight_free(struct inflight *t);
void inflight_list_init(struct inflight_list *list);

static inline struct inflight_query *inflight_at(struct inflight *t, uint32_t slot)
{
    return &t->slots[slot];
}

/* Appends a QUEUED query to the connection's list.  Returns its slot, or INFLIGHT_NONE (memory). */
uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag);

/* Gives list->queued_head (which must exist) the next free id and enters it under (connection, id).
 * Returns 0, and inflight_mark_sent() has to be the next call; or -1 when all ids are in flight.
 * *recycled: an expired query was given up for it, the one queued longest ago. */
int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled);

/* The query at list->queued_head, which has an id, is handed to the socket at sent_ns (>= every
 * earlier sent_ns of the table): it is SENT and queued_head moves on.  A caller that sends several
 * queries with one call may set their exact sent_ns afterwards, as long as that order is kept. */
void inflight_mark_sent(struct inflight *t, struct inflight_list *list, uint64_t sent_ns);

/* The SENT or EXPIRED query with this id, or INFLIGHT_NONE. */
uint32_t inflight_find(const struct inflight *t, const struct inflight_list *list,
                       uint32_t connection, uint16_t id);

/* Whether the connection has ever used this id: an answer to it that finds no query is a duplicate,
 * otherwise its id is unknown. */
bool inflight_id_was_used(const struct inflight_list *list, uint16_t id);

/* The oldest SENT query of all connections, or INFLIGHT_NONE: what expires first. */
static inline uint32_t inflight_oldest(const struct inflight *t)
{
    return t->fifo_head;
}

/* SENT -> EXPIRED. */
void inflight_expire(struct inflight *t, uint32_t slot);

/* Takes a query of any state out of the table and frees its slot. */
void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot);

#endif
