/* SPDX-License-Identifier: MIT
 * srccursor: a worker's position in the source plan: first the tuples of its own connections in
 * order, then the spare ones beyond the requested connections, which replace tuples that the kernel
 * refuses, then released ones, least recently released first, since these had the most time to
 * leave TIME_WAIT.  Pure. One owner thread; only *spare is shared. */
#ifndef TCPSCALER_WORKLOAD_SRCCURSOR_H
#define TCPSCALER_WORKLOAD_SRCCURSOR_H

#include "workload/srcplan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Twice the most connections of a client. */
#define SRCCURSOR_PLENTY (UINT64_C(1) << 25)

struct srccursor {
    const struct srcplan *plan;
    uint64_t next, end;      /* own tuples */
    _Atomic uint64_t *spare; /* next spare tuple, shared by all workers */
    uint64_t *returned;      /* ring, as large as the most tuples that were kept at a time */
    uint32_t first_returned, n_returned, room;
};

/* A worker with the slice [first, first + count) of the connections; *spare was set to the number
 * of all connections before any worker started.  The part of a slice beyond the capacity has no
 * tuples. */
void srccursor_init(struct srccursor *c, const struct srcplan *plan, uint64_t first, uint64_t count,
                    _Atomic uint64_t *spare);
void srccursor_free(struct srccursor *c);

/* Takes the next tuple and its number.  Returns 0, or -1 if none is left. */
int srccursor_next(struct srccursor *c, struct srcplan_tuple *tuple, uint64_t *number);

/* Returns whether the next tuple was never used before. */
bool srccursor_has_fresh(const struct srccursor *c);

/* Releases a tuple.  It is not reused if more than SRCCURSOR_PLENTY spare ones are left: to keep
 * all those of a plan such as 10.0.0.0/8 would take 8 bytes for each connection ever closed.  Nor
 * is it if out of memory. */
void srccursor_give_back(struct srccursor *c, uint64_t number);

#endif
