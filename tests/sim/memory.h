/* SPDX-License-Identifier: MIT
 * memory: what the product and libevent allocate is counted, and refused at times.
 *
 * The linker gives them these functions instead of malloc(3) and the others (--wrap, and
 * event_set_mem_functions()). */
#ifndef TCPSCALER_SIM_MEMORY_H
#define TCPSCALER_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libevent's memory comes from here, too, and what it would log is dropped.  Once, before anything
 * of it is used. */
void memory_prepare(void);

/* From now on nothing has been allocated. */
void memory_begin(void);

/* Refuse this many allocations of a million; 0: none. */
void memory_refuse(uint64_t ppm);

/* Whether the dice refuse one now, of the product's other than malloc(3)'s. */
bool memory_is_refused(void);

/* Allocations not yet freed, and their bytes. */
int64_t memory_n_live(void);
int64_t memory_live_bytes(void);
int64_t memory_most_bytes(void);

/* For the simulation itself: as realloc(3), not counted; ends the program where there is none. */
void *memory_own(void *old, size_t n_bytes);
void memory_disown(void *own);

#endif
