/* SPDX-License-Identifier: MIT
 * server_admission: serves an accepted connection or, if there is no room for it, resets it and
 * counts why.  Used by the worker's thread only. */
#ifndef TCPSCALER_SERVER_ADMISSION_H
#define TCPSCALER_SERVER_ADMISSION_H

#include "net/sock.h"
#include "server/conn.h"

#include <stdbool.h>

/* Returns whether the address of a peer is needed: for a limit per source, where the
 * address in a PROXY header replaces it, or for the list of connections. */
bool server_admission_needs_peer(const struct server_config *config);

/* Serves or refuses a connection; fd is no longer the caller's.  peer: its address; read only if
 * needed.  has_memory: memory for it was taken from config->memory, and is given back unless the
 * connection is served. */
void server_admit(struct server_conns *conns, int fd, const struct sock_address *peer,
                  bool has_memory);

#endif
