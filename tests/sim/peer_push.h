/* SPDX-License-Identifier: MIT
 * peer_push: the simulated server of a client that listens: it greets each connection, and pushes
 * messages to those that have sent a byte until they close their half. */
#ifndef TCPSCALER_SIM_PEER_PUSH_H
#define TCPSCALER_SIM_PEER_PUSH_H

#include <stdint.h>

void peer_push_begin(void);

/* It has accepted connection i, at accepted_ns. */
void peer_push_on_accept(uint32_t i, uint64_t accepted_ns);

/* Connection i sends its subscription.  Returns when that is read. */
uint64_t peer_push_on_data(uint32_t i);

/* Connection i has closed its half. */
void peer_push_on_shutdown(uint32_t i);

#endif
