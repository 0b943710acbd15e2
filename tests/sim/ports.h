/* SPDX-License-Identifier: MIT
 * ports: which source tuples are in use, and for how long after. */
#ifndef TCPSCALER_SIM_PORTS_H
#define TCPSCALER_SIM_PORTS_H

#include <stdint.h>

struct tcp;

/* 10.0.0.2:53, and port 54 of classes without TLS where others have it; the product's end is
 * 10.0.0.1 where it chooses nothing else. */
#define PORTS_PEER_ADDRESS 0x0a000002u
#define PORTS_OWN_ADDRESS  0x0a000001u
enum { PORTS_PEER_PORT = 53, PORTS_PLAIN_PORT = 54 };

void ports_begin(void);

/* bind(2), port 0: later.  Return 0 or an errno. */
int ports_bind(struct tcp *t, uint32_t address, uint16_t port);

/* Before connect(2): a tuple where there is none. */
int ports_choose(struct tcp *t);

/* It is closed. */
void ports_release(const struct tcp *t);

#endif
