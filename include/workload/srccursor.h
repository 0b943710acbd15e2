/* SPDX-License-Identifier: MIT
 * srccursor: a worker's way through the source plan: the tuples of its own connections in order,
 * then the spare ones beyond the connections asked for, which stand in for tuples the kernel
 * refuses, then those given back, the one given back longest ago first: what is in TIME_WAIT had
 * the most time to leave it.
 *
 * Pure.  One owner thread; only *spare is shared. */
#ifndef TCPSCALER_WORKLOAD_SRCCURSOR_H
#define TCPSCALER_WORKLOAD_SRCCURSOR_H

#include "workload/srcplan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct srccursor {
    const struct srcplan *plan;
    uint64_t next, end;      /* own tuples */
    _Atomic uint64_t *spare; /* the next spare one, shared by all workers */
    uint64_t *returned;      /* ring; as large as the most that were given back at a time */
    uint32_t first_returned, n_returned, room;
};

/* A worker with the slice [first, first + count) of the connections; *spare was set to the number
 * of all connections before any worker began.  What of a slice lies beyond the capacity has no
 * tuple. */
void srccursor_init(struct srccursor *c, const struct srcplan *plan, uint64_t first, uint64_t count,
                    _Atomic uint64_t *spare);
void srccursor_free(struct srccursor *c);

/* The next tuple, and its number.  Returns 0, or -1 when none is left. */
int srccursor_next(struct srccursor *c, struct srcplan_tuple *tuple, uint64_t *number);

/* Whether the next tuple is one that was never handed out. */
bool srccursor_has_fresh(const struct srccursor *c);

/* A tuple that was handed out is not used any more.  Without memory it is not used again. */
void srccursor_give_back(struct srccursor *c, uint64_t number);

#endif
