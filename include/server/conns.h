/* SPDX-License-Identifier: MIT
 * server_conns: closes some of a worker's connections: the oldest, or those that their peers have
 * ended.  Used by its worker's thread only. */
#ifndef TCPSCALER_SERVER_CONNS_H
#define TCPSCALER_SERVER_CONNS_H

#include "server/conn.h"

/* Closes the n oldest connections, outcome run/finished.  Returns how many there were. */
uint32_t server_conns_close_oldest(struct server_conns *conns, uint32_t n);

/* Closes the connections that their peers have ended, with their outcomes, however little of that
 * has been read. */
void server_conns_close_ended(struct server_conns *conns);

#endif
