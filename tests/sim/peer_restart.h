/* SPDX-License-Identifier: MIT
 * peer_restart: stops the simulated server now and then, and starts it again.
 *
 * While it is down, a connection attempt is refused or, if its host is down, too, gets no reply. */
#ifndef TCPSCALER_SIM_PEER_RESTART_H
#define TCPSCALER_SIM_PEER_RESTART_H

#include <stdbool.h>
#include <stdint.h>

/* How its connections end. */
enum peer_restart_how {
    PEER_RESTART_RESET,
    PEER_RESTART_FIN,
    PEER_RESTART_SILENT, /* its host is down: connections that send afterwards are reset once it is
                            up again */
    PEER_RESTART_N_HOWS
};

/* `end(i)` is called for each connection it has when it ends, `ended` after them. */
void peer_restart_begin(void (*end)(uint32_t i), void (*ended)(void));

bool peer_restart_is_down(uint64_t at_ns);

/* Whether data that arrive at that time are rejected, or lost. */
bool peer_restart_refuses(uint64_t at_ns);
bool peer_restart_is_silent(uint64_t at_ns);

/* When data that arrive at that time are processed: at once, or once its host is up again. */
uint64_t peer_restart_up_ns(uint64_t at_ns);

/* When it has started for the last time before that; 0: it never ended. */
uint64_t peer_restart_last_ns(uint64_t before_ns);

#endif
