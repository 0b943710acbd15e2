/* SPDX-License-Identifier: MIT
 * peer_restart: the simulated server ends every now and then, and starts again.
 *
 * While it is down, a connection attempt is refused or, if its host is down, too, finds nobody. */
#ifndef TCPSCALER_SIM_PEER_RESTART_H
#define TCPSCALER_SIM_PEER_RESTART_H

#include <stdbool.h>
#include <stdint.h>

/* How its connections end. */
enum peer_restart_how {
    PEER_RESTART_RESET,
    PEER_RESTART_FIN,
    PEER_RESTART_SILENT, /* its host is gone: those that send afterwards are told that it was */
    PEER_RESTART_N_HOWS
};

/* `end(i)` is called for each connection it has when it ends, `ended` after them. */
void peer_restart_begin(void (*end)(uint32_t i), void (*ended)(void));

bool peer_restart_is_down(uint64_t at_ns);

/* Whether what arrives then is refused, or finds nobody. */
bool peer_restart_refuses(uint64_t at_ns);
bool peer_restart_is_silent(uint64_t at_ns);

/* When what arrives then is dealt with: at once, or once its host is up again. */
uint64_t peer_restart_up_ns(uint64_t at_ns);

/* When it has started for the last time before that; 0: it never ended. */
uint64_t peer_restart_last_ns(uint64_t before_ns);

#endif
