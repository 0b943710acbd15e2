/* SPDX-License-Identifier: MIT
 * client_choice: which connection of a worker an arrival goes to: at random or in turn, and to
 * another one where that cannot take it.  The first choice depends on the seed and the number of
 * connections alone, so that a dead connection does not change the others' schedule.
 *
 * Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_CHOICE_H
#define TCPSCALER_CLIENT_CHOICE_H

#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

struct client_worker;

#define CLIENT_CHOICE_NONE UINT32_MAX

struct client_choice {
    struct rng rng, reroute_rng;
    uint32_t next_round_robin;
};

void client_choice_init(struct client_worker *cw);

/* The place of a connection that takes queries; CLIENT_CHOICE_NONE: there is none.  *rerouted: it
 * is not the first choice. */
uint32_t client_choice_make(struct client_worker *cw, bool *rerouted);

#endif
