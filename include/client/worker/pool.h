/* SPDX-License-Identifier: MIT
 * client_pool: how many connections a worker holds, and in which slots.  The open ones occupy
 * consecutive slots from the oldest on, wrapping around.  To grow, the pool opens the next slots;
 * to shrink, it closes the oldest ones or, with closes_newest, the newest ones: a server that
 * accepts no others keeps those that it has, if they are preferred.
 *
 * Pure: it knows numbers, not connections; a connection that ended by itself still counts as open.
 * One owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_POOL_H
#define TCPSCALER_CLIENT_WORKER_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct client_pool {
    uint32_t n_slots;
    uint32_t oldest;    /* slot of the oldest */
    uint32_t n_open;    /* <= n_slots */
    uint32_t n_wanted;  /* <= n_slots */
    bool closes_newest; /* set by the owner after initializing */
    /* Changes by request, step by step: connections still to close; still to open. */
    uint32_t n_to_close, n_to_open;
    /* The slots in their order, and where each slot is in it; NULL: 0, 1, 2, ... */
    uint32_t *order, *index_of;
};

/* Initializes an empty pool. */
void client_pool_init(struct client_pool *p, uint32_t n_slots, uint32_t n_wanted);

/* Also if all zero. */
void client_pool_free(struct client_pool *p);

/* Returns the slot of an open connection; from_oldest 0: the oldest. */
uint32_t client_pool_slot(const struct client_pool *p, uint32_t from_oldest);

/* Returns whether the slot is in the pool. */
bool client_pool_has(const struct client_pool *p, uint32_t slot);

/* _has_next: whether to open a slot now.  _next: that slot. */
bool client_pool_has_next(const struct client_pool *p);
uint32_t client_pool_next(const struct client_pool *p);

/* Adds client_pool_next() to the pool. */
void client_pool_open_next(struct client_pool *p);

/* Sets the number wanted, at most n_slots.  The caller calls client_pool_close_oldest() while
 * n_open is higher. */
void client_pool_want(struct client_pool *p, uint32_t n);

/* Removes the oldest connection, which must exist.  Returns its slot. */
uint32_t client_pool_close_oldest(struct client_pool *p);

typedef bool client_pool_is_good(const void *context, uint32_t slot);

/* Makes the good ones the oldest of those open, which closes_newest closes last.  The order within
 * the good ones and within the others stays.  No effect if out of memory. */
void client_pool_prefer(struct client_pool *p, client_pool_is_good *is_good, const void *context);

/* Like client_pool_want(), but in steps of client_pool_step().  When shrinking, connections not yet
 * opened are withdrawn before any is closed.  With closes_newest, connections that were to be
 * closed stay when more are wanted again.  Returns how many connections this adds to those
 * requested. */
uint32_t client_pool_request(struct client_pool *p, uint32_t n);

/* Returns whether steps are left. */
bool client_pool_is_stepping(const struct client_pool *p);

/* Takes one step; there must be one left.  Either allows one more connection to open, or returns
 * true: the caller closes *to_close, which is no longer in the pool.  Opens first while there are
 * free slots, so that there are never fewer than wanted. */
bool client_pool_step(struct client_pool *p, uint32_t *to_close);

#endif
