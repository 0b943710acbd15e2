/* SPDX-License-Identifier: MIT
 * server_conns: the memory of a worker's connections; closes the oldest of them, or those that
 * their peers have closed.  Used by the worker's thread only. */
#ifndef TCPSCALER_SERVER_CONNS_H
#define TCPSCALER_SERVER_CONNS_H

#include "server/conn.h"

/* Closes the n oldest connections with outcome run/finished, except those that await their PROXY
 * header.  Returns the number closed. */
uint32_t server_conns_close_oldest(struct server_conns *conns, uint32_t n);

/* Closes the connections that their peers have closed, with the resulting outcomes, even if not all
 * has been read. */
void server_conns_close_ended(struct server_conns *conns);

#endif
