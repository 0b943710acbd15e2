/* SPDX-License-Identifier: MIT
 * client_population: how many connections a worker holds, and in which places of its array: the
 * wanted ones are successive places from the oldest on, around the array.  More are wanted: the
 * next places are begun.  Fewer: the oldest go first, each when its queries have their outcomes.
 *
 * Used by its worker's thread, but n_wanted, which any thread may read. */
#ifndef TCPSCALER_CLIENT_WORKER_POOL_H
#define TCPSCALER_CLIENT_WORKER_POOL_H

#include "measure/tally.h"
#include "workload/pacer.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_worker;
struct client_conn;

/* By request, where there is no connect rate: so many per second are begun and let go, of all
 * workers together. */
#define CLIENT_POPULATION_PER_S 500.0

struct client_population {
    uint32_t oldest;      /* its place */
    tally_count n_wanted; /* gauge; at most the worker's n_conns */
    tally_count n_asked;  /* in all: places, and where there is a course wishes */
    uint32_t n_begun;     /* of those wanted; some may have ended */
    /* By request: not wanted, and to be let go in the next steps; wanted, and to be begun in them
     */
    uint32_t n_leaving, n_coming;
    struct pacer_segment rate;
    struct pacer pacer; /* of the steps */
    struct event tick_event, step_event;
    uint64_t start_ns; /* of the schedule of connections */
};

/* Wants what the schedule of connections begins with, or all of them. */
void client_population_init(struct client_worker *cw);

/* The schedule of connections, if there is one, begins at start_ns. */
void client_population_follow(struct client_worker *cw, uint64_t start_ns);

/* It ends; what is wanted stays. */
void client_population_stop(struct client_worker *cw);

/* From now on n connections, n <= n_conns. */
void client_population_want(struct client_worker *cw, uint32_t n);

/* Likewise by request, at the connect rate or CLIENT_POPULATION_PER_S: where fewer are wanted the
 * oldest begun are let go, and those asked for and not yet begun still will be. */
void client_population_steer(struct client_worker *cw, uint32_t n);

/* Those that were asked for and never begun end: for want of memory, or as cancelled. */
void client_population_cancel(struct client_worker *cw);

/* Whether there is a place to begin, and which: its connection is NEW or ENDED. */
bool client_population_has_next(const struct client_worker *cw);
struct client_conn *client_population_take_next(struct client_worker *cw);

/* The place of a wanted connection, 0: of the oldest one. */
uint32_t client_population_place(const struct client_worker *cw, uint32_t from_oldest);

/* Whether the connection stands in a wanted place. */
bool client_population_has(const struct client_worker *cw, const struct client_conn *c);

#endif
