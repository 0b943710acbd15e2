/* SPDX-License-Identifier: MIT
 * inflight: a worker's queries that are queued or in flight, and the answers that expired queries
 * are still owed.  Memory is proportional to queries in flight, not to connections.
 *
 * Pure; one owner thread.  A query is identified by its slot number; pointers are valid until the
 * next inflight_queue().  Each connection embeds one struct inflight_list, which holds its queries
 * in the order they were queued: sent, then waiting, then queued ones.
 *
 *   queue -> [QUEUED] -> assign_id, mark_sent -> [WAITING] -> mark_written -> [SENT] -> remove
 *                                                      \-> expire: gone          \-> expire: owed
 *
 * A WAITING query counts as sent, but its socket is full and none of its bytes have been written.
 * If it expires it is never written, and no answer is owed.
 *
 * The answer owed to an expired query must not be credited to another one.  Without ids, answers
 * arrive in the order of the queries, so a connection only needs the number of answers owed.  With
 * ids, the id stays in use until the answer arrives: it is a bit in a slot of 128 ids.  If all
 * 65,536 ids of a connection are in use, the one that expired longest ago is reused, provided that
 * its query was sent long ago (reuse_ns) and a later one has been answered since: its own answer is
 * unlikely to come.  The second condition is not enough alone, because servers answer out of order.
 * Otherwise the caller's queries wait, keeping their intended time. */
#ifndef TCPSCALER_WORKLOAD_INFLIGHT_H
#define TCPSCALER_WORKLOAD_INFLIGHT_H

#include "workload/inflight_ids.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Allocates initial room for capacity_hint queries, whose memory is only used as queries are added;
 * the table grows by doubling.  has_ids: answers carry an id.  Returns 0, or -1 if out of memory.
 */
int inflight_init(struct inflight *t, uint32_t capacity_hint, bool has_ids);
void inflight_free(struct inflight *t);
void inflight_list_init(struct inflight_list *list);

/* Appends a QUEUED query to the connection's list.  Returns its slot, or INFLIGHT_NONE if out of
 * memory. */
uint32_t inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint64_t intended_ns, uint8_t tag);

/* Marks the query at list->queued_head, which has an id, as sent at sent_ns (not before any earlier
 * sent_ns of the table).  It becomes WAITING and queued_head advances.  A caller that sends several
 * queries with one call may set their exact sent_ns afterwards, without changing that order. */
static inline void inflight_mark_sent(struct inflight *t, struct inflight_list *list,
                                      uint64_t sent_ns)
{
    const uint32_t slot = list->queued_head;
    struct inflight_query *q = &t->slots[slot];

    assert(q->state == INFLIGHT_QUEUED);
    q->state = INFLIGHT_WAITING;
    q->sent_ns = sent_ns;
    list->queued_head = q->conn_next;
    if (list->waiting_head == INFLIGHT_NONE)
        list->waiting_head = slot;
    q->fifo_prev = t->fifo_tail;
    q->fifo_next = INFLIGHT_NONE;
    if (t->fifo_tail != INFLIGHT_NONE)
        t->slots[t->fifo_tail].fifo_next = slot;
    else
        t->fifo_head = slot;
    t->fifo_tail = slot;
    t->n_queued--;
    t->n_sent++;
}

/* The socket accepted bytes of the query at list->waiting_head (which must exist): it becomes SENT.
 */
void inflight_mark_written(struct inflight *t, struct inflight_list *list);

/* Returns the query that an answer with this id belongs to, or INFLIGHT_NONE.  Without ids: the
 * first SENT one, unless an expired query is owed its answer first. */
uint32_t inflight_find(struct inflight *t, struct inflight_list *list, uint32_t connection,
                       uint16_t id);

/* Handles an answer that belongs to no query in flight.  Returns whether an expired query was owed
 * it; then it no longer is. */
bool inflight_take_late(struct inflight *t, struct inflight_list *list, uint32_t connection,
                        uint16_t id);

/* Returns the oldest WAITING or SENT query of all connections, which expires first, or
 * INFLIGHT_NONE. */
static inline uint32_t inflight_oldest(const struct inflight *t)
{
    return t->fifo_head;
}

/* Expires a WAITING or SENT query and frees its slot.  A SENT one is owed an answer. */
void inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* Removes a SENT query that was answered. */
void inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* Removes a query in any state and frees its slot. */
void inflight_remove(struct inflight *t, struct inflight_list *list, uint32_t slot);

/* The connection has ended and its list is empty: forgets the answers owed. */
void inflight_forget(struct inflight *t, struct inflight_list *list);

#endif
