/* SPDX-License-Identifier: MIT
 * client_select: which connection of a worker gets an arrival: the one selected for it
 * (workload/arrivals.h), or another one if that takes no queries.  While fewer connections are open
 * than there are slots, the worker selects among the open ones, at random or in turn.
 *
 * Pure: it knows slots, not connections.  One owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SELECT_H
#define TCPSCALER_CLIENT_WORKER_SELECT_H

#include "base/rng.h"
#include "client/worker/pool.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_SELECT_NO_SLOT UINT32_MAX

struct client_select {
    struct rng rng, reroute_rng;
    uint32_t next_in_turn;
    bool random; /* otherwise in turn */
};

void client_select_init(struct client_select *s, bool random, uint64_t seed, uint32_t worker);

/* Selects one of the open slots, which are fewer than all.  Returns CLIENT_SELECT_NO_SLOT if none
 * is open. */
uint32_t client_select_open(struct client_select *s, const struct client_pool *pool);

/* Returns the first choice: if all slots are open, `chosen`, unchecked: it is not below n_slots if
 * another worker has that connection.  Otherwise an open slot of this worker, or
 * CLIENT_SELECT_NO_SLOT if none is open. */
static inline uint32_t client_select_first(struct client_select *s, const struct client_pool *pool,
                                           uint32_t chosen)
{
    return pool->n_open == pool->n_slots ? chosen : client_select_open(s, pool);
}

/* Selects a random element of a list of n > 0 usable slots. */
uint32_t client_select_listed(struct client_select *s, const uint32_t *usable, uint32_t n);

/* Tries to find a random usable slot out of n_slots > 0.  Returns CLIENT_SELECT_NO_SLOT after a
 * number of tries, likely only if few are usable.  Calls `is_usable` with `context`. */
uint32_t client_select_try(struct client_select *s, uint32_t n_slots,
                           bool (*is_usable)(const void *context, uint32_t slot),
                           const void *context);

#endif
