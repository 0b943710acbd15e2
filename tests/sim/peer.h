/* SPDX-License-Identifier: MIT
 * peer: the simulated server: what it does, and when, by the scenario.
 *
 * One server, first come first served: it accepts, reads, serves each query for the service time
 * and answers.  While it stalls it does none of it.  What reaches it must be the queries of the
 * protocol, byte by byte. */
#ifndef TCPSCALER_SIM_PEER_H
#define TCPSCALER_SIM_PEER_H

#include "protocol/query.h"

#include <stddef.h>
#include <stdint.h>

/* The queries that it expects; borrowed. */
void peer_begin(const struct query *query);

/* --- called by tcp --- */

/* Connection i sends a SYN: decides what becomes of it. */
void peer_on_connect(uint32_t i);

/* Connection i sends this.  Returns when the peer will have read it. */
uint64_t peer_on_data(uint32_t i, const uint8_t *data, size_t n_bytes);

/* The product has closed connection i. */
void peer_on_close(uint32_t i);

/* --- figures --- */

struct peer_figures {
    uint64_t n_queries, n_answers, n_lost, n_late, n_duplicate, n_wrong, n_fins, n_resets;
};

extern struct peer_figures peer_figures;

#endif
