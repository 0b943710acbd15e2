/* SPDX-License-Identifier: MIT
 * client_choice: which connection of a worker an arrival goes to: the one chosen for it
 * (workload/arrivals.h), or another one where that cannot take it.  Where the worker has fewer than
 * its places for them it chooses itself, at random or in turn.
 *
 * Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SELECT_H
#define TCPSCALER_CLIENT_WORKER_SELECT_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

struct client_worker;

#define CLIENT_CHOICE_NONE UINT32_MAX

struct client_choice {
    struct rng rng, reroute_rng;
    uint32_t next_round_robin;
};

void client_choice_init(struct client_worker *cw);

/* The place of a connection that takes queries; CLIENT_CHOICE_NONE: there is none.  `chosen`:
 * number over all workers of the one chosen, perhaps another worker's.  *rerouted: it is not that.
 */
uint32_t client_choice_make(struct client_worker *cw, uint32_t chosen, bool *rerouted);

#endif
