/* SPDX-License-Identifier: MIT
 * fiber: the threads of the simulated host, one of which runs at a time.
 *
 * Fiber 0 is the one that called fiber_begin().  A fiber runs until it sleeps; then what happens
 * next happens: an event of the world, or the fiber that wakes first goes on.  All of it is
 * determined by the scenario. */
#ifndef TCPSCALER_SIM_FIBER_H
#define TCPSCALER_SIM_FIBER_H

#include <stdbool.h>
#include <stdint.h>

enum { FIBER_MOST = 64 };

void fiber_begin(void);

/* A fiber that runs `run(arg)`, from the caller's next sleep on.  Returns its number. */
int fiber_new(void *(*run)(void *), void *arg);

int fiber_current(void);
bool fiber_is_done(int fiber);

/* Sleeps until then (WORLD_NEVER: until woken), or until it is woken. */
void fiber_sleep(uint64_t until_ns);

/* Wakes a sleeper, as late as this host is; nothing where it runs or wakes before. */
void fiber_wake(int fiber);

/* Lets others run that are due. */
void fiber_yield(void);

/* The number of a fiber is free again, its stack is kept for the next one. */
void fiber_forget(int fiber);

/* --- what the simulation knows of each fiber --- */

/* What CLOCK_MONOTONIC told it last. */
extern uint64_t fiber_clock_ns[FIBER_MOST];

/* The connection of which it has read bytes last. */
extern uint32_t fiber_read_from[FIBER_MOST];

/* How often it was refused memory, or a watch by epoll_ctl(2). */
extern uint64_t fiber_n_refusals[FIBER_MOST];

#endif
