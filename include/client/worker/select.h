/* SPDX-License-Identifier: MIT
 * client_select: which connection of a worker an arrival goes to: the one chosen for it
 * (workload/arrivals.h), or another one if that takes no queries.  Where fewer are open than there
 * are slots the worker chooses itself, at random or in turn.
 *
 * Pure: it knows slots, not connections.  One owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SELECT_H
#define TCPSCALER_CLIENT_WORKER_SELECT_H

#include "base/rng.h"
#include "client/worker/pool.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_SELECT_NONE UINT32_MAX

struct client_select {
    struct rng rng, reroute_rng;
    uint32_t next_in_turn;
    bool random; /* otherwise in turn */
};

void client_select_init(struct client_select *s, bool random, uint64_t seed, uint32_t worker);

/* One of the open slots, fewer than all.  CLIENT_SELECT_NONE: none is open. */
uint32_t client_select_open(struct client_select *s, const struct client_pool *pool);

/* The first choice: `chosen` if all slots are open; it may lie outside of this worker's slots, the
 * others' are numbered on.  CLIENT_SELECT_NONE: none is open. */
static inline uint32_t client_select_first(struct client_select *s, const struct client_pool *pool,
                                           uint32_t chosen)
{
    return pool->n_open == pool->n_slots ? chosen : client_select_open(s, pool);
}

/* Another one, at random, out of a list of usable slots, n > 0. */
uint32_t client_select_listed(struct client_select *s, const uint32_t *usable, uint32_t n);

/* Likewise out of n_slots, where it is not known which are usable: at least one is.  `is_usable` is
 * called with `context`. */
uint32_t client_select_other(struct client_select *s, uint32_t n_slots,
                             bool (*is_usable)(const void *context, uint32_t slot),
                             const void *context);

#endif
