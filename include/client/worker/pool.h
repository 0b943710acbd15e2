/* SPDX-License-Identifier: MIT
 * client_pool: how many connections a worker holds, and in which slots: the open ones are
 * successive slots from the oldest on, around the array.  More are wanted: the next slots are
 * opened.  Fewer: the oldest are closed first.
 *
 * Pure: it knows numbers, not connections; one that has ended by itself still counts as open.  One
 * owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_POOL_H
#define TCPSCALER_CLIENT_WORKER_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct client_pool {
    uint32_t n_slots;
    uint32_t oldest;   /* its slot */
    uint32_t n_open;   /* <= n_slots */
    uint32_t n_wanted; /* <= n_slots */
    /* By request, step by step: open ones to be closed; wanted ones to be opened. */
    uint32_t n_to_close, n_to_open;
};

/* None is open. */
void client_pool_init(struct client_pool *p, uint32_t n_slots, uint32_t n_wanted);

/* The slot of an open connection, 0: of the oldest one. */
uint32_t client_pool_slot(const struct client_pool *p, uint32_t from_oldest);

/* Whether the slot is one of the open ones. */
bool client_pool_has(const struct client_pool *p, uint32_t slot);

/* Whether a slot is to be opened now, and which. */
bool client_pool_has_next(const struct client_pool *p);
uint32_t client_pool_next(const struct client_pool *p);

/* client_pool_next() is opened. */
void client_pool_open_next(struct client_pool *p);

/* From now on n <= n_slots are wanted; client_pool_close_oldest() while n_open is more. */
void client_pool_want(struct client_pool *p, uint32_t n);

/* Takes the oldest one out of the pool: there is one.  Returns its slot. */
uint32_t client_pool_close_oldest(struct client_pool *p);

/* Likewise n are wanted, but client_pool_step() leads there.  Where fewer are wanted the oldest
 * open ones are to be closed, and those requested before and not yet opened still will be.  Returns
 * how many more this requests. */
uint32_t client_pool_request(struct client_pool *p, uint32_t n);

/* Whether steps are left. */
bool client_pool_is_stepping(const struct client_pool *p);

/* One step: there is one left.  One more may be opened or, if it returns true, *to_close, no longer
 * in the pool, is to be closed.  Opening goes first as long as there is a slot: never are there
 * fewer than wanted for it. */
bool client_pool_step(struct client_pool *p, uint32_t *to_close);

#endif
