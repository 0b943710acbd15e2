/* SPDX-License-Identifier: MIT
 * deadlines: which of many slots has the earliest deadline: a binary heap that knows the position
 * of each slot, so that a deadline can be moved or removed.  Pure; one owner thread. */
#ifndef TCPSCALER_WORKLOAD_DEADLINES_H
#define TCPSCALER_WORKLOAD_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

#define DEADLINES_NEVER UINT64_MAX

struct deadlines {
    struct deadline {
        uint64_t at_ns;
        uint32_t slot;
    } * heap;            /* the first n; NULL: not initialized */
    uint32_t *positions; /* of each slot: index in heap + 1; 0: no deadline */
    uint32_t n;
};

/* Returns how much memory deadlines_init() takes for each slot. */
static inline size_t deadlines_slot_bytes(void)
{
    return sizeof(struct deadline) + sizeof(uint32_t);
}

/* Allocates room for n_slots slots without deadlines.  Returns 0, or -1 if out of memory. */
int deadlines_init(struct deadlines *d, uint32_t n_slots);
void deadlines_free(struct deadlines *d); /* also if all zero */

/* Sets or changes the slot's deadline. */
void deadlines_set(struct deadlines *d, uint32_t slot, uint64_t at_ns);

/* Removes the slot's deadline, if it has one. */
void deadlines_clear(struct deadlines *d, uint32_t slot);

/* Returns the earliest deadline; DEADLINES_NEVER: there is none. */
static inline uint64_t deadlines_next_ns(const struct deadlines *d)
{
    return d->n > 0 ? d->heap[0].at_ns : DEADLINES_NEVER;
}

/* Removes the earliest deadline, which must exist.  Returns its slot. */
uint32_t deadlines_take(struct deadlines *d);

#endif
