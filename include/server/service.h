/* SPDX-License-Identifier: MIT
 * server_service: begins to serve accepted connections: counts, lists and greets them.  Used by the
 * worker's thread only. */
#ifndef TCPSCALER_SERVER_SERVICE_H
#define TCPSCALER_SERVER_SERVICE_H

#include "server/conn.h"
#include "workload/srcplan.h"

#include <stdint.h>

/* Opens and serves an accepted, non-blocking socket; releases source_entry when it ends.  peer: its
 * address, for the list of connections; not read without one.  Returns 0 or, if it cannot be
 * watched, an errno: then the caller keeps both. */
int server_service_open(struct server_conns *conns, int fd, uint32_t source_entry,
                        const struct srcplan_tuple *peer);

/* Serves a connection whose PROXY header is complete and takes over source_entry.  May close it, or
 * refuse it if it cannot be watched.  identity: the client that the header names; AF_UNSPEC: none.
 */
void server_service_begin(struct server_conn *c, uint32_t source_entry,
                          const struct srcplan_tuple *peer, const struct srcplan_tuple *identity);

#endif
