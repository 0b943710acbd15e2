/* SPDX-License-Identifier: MIT
 * fiber: the threads of the simulated host, one of which runs at a time.
 *
 * Fiber 0 is the one that called fiber_begin().  A fiber runs until it sleeps; then the next event
 * of the world happens, or the fiber that wakes first goes on. The scenario determines everything.
 */
#ifndef TCPSCALER_SIM_FIBER_H
#define TCPSCALER_SIM_FIBER_H

#include <stdbool.h>
#include <stdint.h>

enum { FIBER_MOST = 64 };

void fiber_begin(void);

/* Creates a fiber that runs `run(arg)`, beginning when the caller sleeps next.  Returns its number.
 */
int fiber_new(void *(*run)(void *), void *arg);

int fiber_current(void);
bool fiber_is_done(int fiber);

/* Sleeps until then (WORLD_NEVER: until woken), or until it is woken. */
void fiber_sleep(uint64_t until_ns);

/* Wakes a sleeping fiber, as late as this host does.  No effect if it runs, or wakes earlier. */
void fiber_wake(int fiber);

/* Lets other fibers run that are due. */
void fiber_yield(void);

/* Frees the number of a fiber; keeps its stack for the next one. */
void fiber_forget(int fiber);

/* --- what the simulation knows about each fiber --- */

/* The last value of CLOCK_MONOTONIC that it has read. */
extern uint64_t fiber_clock_ns[FIBER_MOST];

/* The connection from which it has last read bytes. */
extern uint32_t fiber_read_from[FIBER_MOST];

/* How often it was refused memory, or a watch by epoll_ctl(2). */
extern uint64_t fiber_n_refusals[FIBER_MOST];

#endif
