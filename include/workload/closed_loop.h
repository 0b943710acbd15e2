/* SPDX-License-Identifier: MIT
 * closed_loop: the arrivals of a closed loop: each connection's next query is due one interval
 * after its last answer.  Pure.
 *
 * All intervals are equal, so the queue is always sorted by time: a ring with at most one entry per
 * connection. One owner thread. */
#ifndef TCPSCALER_WORKLOAD_CLOSED_LOOP_H
#define TCPSCALER_WORKLOAD_CLOSED_LOOP_H

#include <stdint.h>

struct closed_loop_entry {
    uint64_t due_ns;
    uint32_t connection;
};

struct closed_loop {
    struct closed_loop_entry *ring;
    uint32_t capacity, first, count;
};

/* Returns 0, or -1 if out of memory.  All zero is a valid empty queue without room. */
int closed_loop_init(struct closed_loop *q, uint32_t n_connections);
void closed_loop_free(struct closed_loop *q);

/* due_ns must not be earlier than that of any entry; a connection is in the queue at most once. */
void closed_loop_push(struct closed_loop *q, uint64_t due_ns, uint32_t connection);

/* When the first entry is due; UINT64_MAX if there is none. */
uint64_t closed_loop_next_ns(const struct closed_loop *q);

/* Removes the first entry (there must be one); returns its connection. */
uint32_t closed_loop_pop(struct closed_loop *q);

#endif
