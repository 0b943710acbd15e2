/* SPDX-License-Identifier: MIT
 * client_udp: datagrams for a worker's connections, each a connected UDP socket: a codec between
 * queries and answers with their lengths, as on a TCP connection, and datagrams without.  Without
 * UDP nothing is allocated.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_UDP_H
#define TCPSCALER_CLIENT_WORKER_UDP_H

#include "client/worker/transport.h"
#include "net/datagrams.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client_udp {
    struct datagrams_out out;
    struct datagrams_in in;
    uint32_t *dropped;  /* one per connection of the worker: the kernel's count when last read */
    uint64_t *heard_ns; /* likewise: when a datagram was last received; 0: none yet */
};

/* Creates t->udp if config->socket.datagrams is set.  Returns 0 or -1 with errno. */
int client_udp_init(struct client_transport *t);
void client_udp_free(struct client_transport *t);

/* As client_conn_write(): queries with their lengths; the socket accepts only whole ones. */
ssize_t client_udp_write(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Passes the datagrams that are there to ops->data, which may close the connection.  Returns 0 or
 * the errno of the broken connection. */
int client_udp_receive(struct client_conn *c, int fd);

/* Likewise, of a broken connection: all of them. */
void client_udp_receive_rest(struct client_conn *c, int fd);

/* Counts the datagrams that the kernel has dropped at the connection's socket since the last call.
 * Call it when a query times out: each answer dropped makes one time out. */
void client_udp_count_dropped(struct client_conn *c);

/* Likewise, before the socket is closed. */
void client_udp_end(struct client_conn *c);

#endif
