/* SPDX-License-Identifier: MIT
 * server_conns: closes a worker's oldest connections, or those that their peers have closed.  Used
 * by the worker's thread only. */
#ifndef TCPSCALER_SERVER_CONNS_H
#define TCPSCALER_SERVER_CONNS_H

#include "server/conn.h"

/* Closes the n oldest connections with outcome run/finished, except those that await their PROXY
 * header.  Returns the number closed: if there are fewer, all; if out of memory, 0. */
uint32_t server_conns_close_oldest(struct server_conns *conns, uint32_t n);

/* Reads what is left on the connections that their peers have closed, and closes them with the
 * resulting outcomes.  Leaves open those with bytes still to be sent, and those with more than
 * 8 MiB to read. */
void server_conns_close_ended(struct server_conns *conns);

#endif
