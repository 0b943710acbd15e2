/* SPDX-License-Identifier: MIT
 * inflight: the queries of one worker that are queued or in flight, and the answers that expired
 * queries are still owed.  Memory is proportional to queries in flight, not to connections.
 *
 * Pure; one owner thread.  A query is a slot number: pointers are valid until the next
 * inflight_queue().  Each connection embeds one struct inflight_list; its queries stand there in
 * the order they were queued: sent, then waiting, then queued ones.
 *
 *   queue -> [QUEUED] -> assign_id, mark_sent -> [WAITING] -> mark_written -> [SENT] -> remove
 *                                                      \-> expire: gone          \-> expire: owed
 *
 * A WAITING query is sent as far as its times go, but its socket is full: not a byte of it has
 * left. When it expires it never leaves, and is owed nothing.
 *
 * The answer owed to an expired query must not be credited to another one.  Where answers carry no
 * id they come in the order of the queries: a connection needs only the number it is owed.  Where
 * they carry one, the id stays in use until the answer has come: it is a bit in a slot of 128 ids.
 * When a connection has used up all 65,536 ids, the one that expired longest ago is given up if an
 * answer to a later query has come since: this one is not going to be answered.  Otherwise the
 * caller's queries wait, keeping their intended time. */
#ifndef TCPSCALER_WORKLOAD_INFLIGHT_H
#define TCPSCALER_WORKLOAD_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set;

#define INFLIGHT_NONE UINT32_MAX
#define INFLIGHT_IDS  65536u

/* EXPIRED: no query, but ids of expired ones. */
enum inflight_state {
    INFLIGHT_FREE,
    INFLIGHT_QUEUED,
    INFLIGHT_WAITING,
    INFLIGHT_SENT,
    INFLIGHT_EXPIRED
};

/* The links are slot numbers. */
struct inflight_query {
    union {
        struct {
            uint64_t intended_ns;
            uint64_t sent_ns; /* 0 while it is queued */
        };
        uint64_t expired[2]; /* EXPIRED: bit i: id 128 * id + i */
    };
    uint32_t connection;
    union {
        uint32_t query_offset; /* the caller's: what it asks */
        uint32_t position;     /* EXPIRED: the latest of its ids */
    };
    uint32_t gap_us; /* the caller's: arrival gap before it, for the raw rows */
    uint16_t id;     /* valid from assign_id on */
    uint8_t state;
    uint8_t tag; /* the caller's: what the query counts for */
    uint32_t hash_next;
    uint32_t conn_prev, conn_next;
    uint32_t fifo_prev, fifo_next; /* waiting and sent queries by time; free slots use fifo_next */
};

_Static_assert(sizeof(struct inflight_query) <= 56, "memory per query in flight");

/* Embedded in the connection, initialised by inflight_list_init. */
struct inflight_list {
    uint32_t head, tail;      /* all its queries */
    uint32_t waiting_head;    /* the first of which nothing is written */
    uint32_t queued_head;     /* the first not yet sent */
    uint32_t expired_head;    /* slots of expired ids */
    uint32_t n_reserved : 31; /* ids in use, <= 65,536; without ids: answers owed */
    uint32_t wrapped : 1;     /* every id has been used */
    uint32_t next_position;   /* ids are used in turn: this one modulo 65,536 next */
    uint32_t newest_answered; /* the latest position an answer came to */
    uint32_t crowd;           /* of inflight.crowds, when many ids are in use */
};

struct inflight {
    struct inflight_query *slots;
    uint32_t n_slots, n_touched; /* slots from the latter on have never been used */
    uint32_t free_head;
    uint32_t *buckets;  /* with ids: slot + 1; 0: empty */
    uint32_t n_buckets; /* a power of two */
    bool has_ids;
    uint32_t fifo_head, fifo_tail;
    uint32_t n_queued, n_sent; /* the latter waiting ones included */
    uint64_t n_expired;        /* answers owed */
    struct id_set **crowds; /* ids in use, of connections where the next free one is far to seek */
    uint32_t n_crowds;
};

/* Room for capacity_hint queries to begin with, of which memory is used as they come; it grows by
 * doubling.  has_ids: answers carry an id.  Returns 0 or -1 (memory). */
int inflight_init(struct inflight *t, uint32_t capacity_hint, bool has_ids);
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
 * Returns 0, and inflight_mark_sent() has to be the next call; or -1 when all ids are in use.
 * *recycled: the id of an expired query was given up for it. */
int inflight_assign_id(struct inflight *t, struct inflight_list *list, bool *recycled);

/* The query at list->queued_head, which has an id, is sent at sent_ns (>= every earlier sent_ns of
 * the table): it is WAITING and queued_head moves on.  A caller that sends several queries with one
 * call may set their exact sent_ns afterwards, as long as that order is kept. */
void inflight_mark_sent(struct inflight *t, struct inflight_list *list, uint64_t sent_ns);

/* Bytes of the query at list->waiting_head (which must exist) have left: it is SENT. */
void inflight_mark_written(struct inflight *t, struct inflight_list *list);

/* The query that an answer with this id is to, or INFLIGHT_NONE; without ids: the first SENT one,
 * unless an expired one is owed its answer first. */
uint32_t inflight_find(const struct inflight *t, const struct inflight_list *list,
                       uint32_t connection, uint16_t id);

/* An answer that is to no query in flight: whether an expired one was owed it.  Then it is owed no
 * more. */
bool inflight_take_late(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint16_t id);

/* Whether the connection has ever used this id: an answer to it that finds no query is a duplicate,
 * otherwise its id is unknown. */
bool inflight_id_was_used(const struct inflight_list *list, uint16_t id);

/* The oldest WAITING or SENT query of all connections, or INFLIGHT_NONE: what expires first. */
static inline uint32_t inflight_oldest(const struct inflight *t)
{
    return t->fifo_head;
}

/* WAITING or SENT; the slot is the query's no more.  A SENT one is owed an answer. */
void inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* SENT: its answer has come. */
void inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* Takes a query of any state out of the table and frees its slot. */
void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* The connection has ended, its list is empty: nothing is owed any more. */
void inflight_forget(struct inflight *t, struct inflight_list *list);

#endif
