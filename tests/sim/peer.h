/* SPDX-License-Identifier: MIT
 * peer: the simulated server: what it does, and when, according to the scenario.
 *
 * It has a single queue: it accepts, reads, spends the service time on each query, and answers.
 * During a stall it does none of these. */
#ifndef TCPSCALER_SIM_PEER_H
#define TCPSCALER_SIM_PEER_H

#include "tcp.h"

#include <stdint.h>

extern const struct tcp_end peer_end;

/* After classes_begin(). */
void peer_begin(void);

/* --- figures --- */

struct peer_figures {
    uint64_t n_queries, n_answers, n_lost, n_late, n_duplicate, n_wrong, n_fins, n_resets;
};

extern struct peer_figures peer_figures;

#endif
