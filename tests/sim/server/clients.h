/* SPDX-License-Identifier: MIT
 * clients: the simulated clients of tcpserver, and the truth about each of their connections.
 *
 * What a client does is drawn from the scenario when it arrives: how much it sends, in which
 * pieces, whether it reads, and how it ends. */
#ifndef TCPSCALER_SIM_SERVER_CLIENTS_H
#define TCPSCALER_SIM_SERVER_CLIENTS_H

#include "measure/outcome.h"
#include "server/config.h"
#include "tcp.h"

#include <stdint.h>

extern const struct tcp_end clients_end;

/* config: borrowed.  The clients of the calm phase arrive from calm_ns on, the others before. */
void clients_begin(const struct server_config *config, const int *listener_fds,
                   uint32_t n_listeners, uint64_t calm_ns);

/* Schedules the arrivals of the clients. */
void clients_come(void);

/* From now on connections may be closed without a reason of their own. */
void clients_expect_closing(void);

/* --- called by the calls --- */

/* Connection i has left its listener's queue: accepted; or lost by a fault of accept(2). */
void clients_accepted(uint32_t i);
void clients_lose(uint32_t i);

struct clients_figures {
    uint64_t n_came, n_established, n_accepted, n_served, n_refused, n_lost, n_vanished;
    uint64_t n_active, n_peak;
    uint64_t n_messages, n_gaps, n_begun; /* pushed: complete, missing before one, not complete */
    uint64_t bytes_received, bytes_sent;
    /* Ends whose cause the server has learned from a call ... */
    uint64_t closed[OUTCOME_N_PHASES][OUTCOME_N_REASONS];
    uint64_t n_unexplained; /* ... and others: idle, by request, out of memory, at the end */
};

extern struct clients_figures clients_figures;

#endif
