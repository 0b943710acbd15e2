/* SPDX-License-Identifier: MIT
 * peer: the simulated server: what it does, and when, by the scenario.
 *
 * One server, first come first served: it accepts, reads, serves each query for the service time
 * and answers.  While it stalls it does none of it. */
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
