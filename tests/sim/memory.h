/* SPDX-License-Identifier: MIT
 * memory: counts the allocations of the product and of libevent, and refuses some.
 *
 * These functions replace malloc(3) and its relatives (--wrap, and event_set_mem_functions()). */
#ifndef TCPSCALER_SIM_MEMORY_H
#define TCPSCALER_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes libevent allocate here, too, and drops what it would log.  Call it once, before libevent is
 * used. */
void memory_prepare(void);

/* From now on nothing has been allocated. */
void memory_begin(void);

/* Refuse this many allocations of a million; 0: none. */
void memory_refuse(uint64_t ppm);

/* Returns whether, at random, an allocation of the product other than with malloc(3) is refused
 * now. */
bool memory_is_refused(void);

/* Allocations not yet freed, and their bytes. */
int64_t memory_n_live(void);
int64_t memory_live_bytes(void);
int64_t memory_most_bytes(void);

/* For the simulation itself: like realloc(3), but not counted, and ends the program if out of
 * memory. */
void *memory_own(void *old, size_t n_bytes);
void memory_disown(void *own);

#endif
