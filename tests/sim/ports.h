/* SPDX-License-Identifier: MIT
 * ports: which source tuples are in use, and for how long after a connection has ended. */
#ifndef TCPSCALER_SIM_PORTS_H
#define TCPSCALER_SIM_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct tcp;

/* The peer is 10.0.0.2:53, with a port for each class k: 53 - k, or 54 + k for classes without TLS
 * if others have it.  The product's end is 10.0.0.1 unless it chooses another address. */
#define PORTS_PEER_ADDRESS 0x0a000002u
#define PORTS_OWN_ADDRESS  0x0a000001u
enum { PORTS_PEER_PORT = 53, PORTS_PLAIN_PORT = 54, PORTS_MOST_CLASSES = 16 };

/* Whether the connections to a port have no TLS although others have it. */
static inline bool ports_are_plain(uint16_t port)
{
    return port >= PORTS_PLAIN_PORT && port < PORTS_PLAIN_PORT + PORTS_MOST_CLASSES;
}

void ports_begin(void);

/* bind(2), port 0: later.  Return 0 or an errno. */
int ports_bind(struct tcp *t, uint32_t address, uint16_t port);

/* Before connect(2): chooses a tuple if there is none yet. */
int ports_choose(struct tcp *t);

/* It is closed. */
void ports_release(const struct tcp *t);

#endif
