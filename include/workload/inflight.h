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

#include "workload/inflight_ids.h"

#include <stdbool.h>
#include <stdint.h>

/* Room for capacity_hint queries to begin with, of which memory is used as they come; it grows by
 * doubling.  has_ids: answers carry an id.  Returns 0 or -1 (memory). */
int inflight_init(struct inflight *t, uint32_t capacity_hint, bool has_ids);
void inflight_free(struct inflight *t);
void inflight_list_init(struct inflight_list *list);

/* Appends a QUEUED query to the connection's list.  Returns its slot, or INFLIGHT_NONE (memory). */
uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag);

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
