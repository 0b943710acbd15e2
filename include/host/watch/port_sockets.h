/* SPDX-License-Identifier: MIT
 * port_sockets: the TCP sockets of a server's port in this network namespace.  Any thread. */
#ifndef TCPSCALER_HOST_WATCH_PORT_SOCKETS_H
#define TCPSCALER_HOST_WATCH_PORT_SOCKETS_H

#include <stdint.h>

struct port_sockets {
    uint64_t established, syn_received, fin_wait, time_wait, close_wait, other;
    uint64_t buffer_bytes; /* their send and receive buffers, as the kernel accounts for them */
};

struct port_listeners {
    uint64_t n;
    uint64_t queue;   /* connections that wait for accept(2): in the longest queue */
    uint64_t backlog; /* the smallest limit of a queue; 0 without listeners */
    uint64_t drops;   /* SYNs and handshakes that the listeners have dropped, each overflow of an
                         accept queue included; of each listener modulo 2^32 */
};

/* Lists all sockets but the listeners: about 0.1 s per 100,000 of the namespace.  Returns 0, or -1
 * with errno. */
int port_sockets_read(struct port_sockets *s, uint16_t port);

/* Costs the same with a million connections.  Returns 0, or -1 with errno. */
int port_listeners_read(struct port_listeners *l, uint16_t port);

#endif
