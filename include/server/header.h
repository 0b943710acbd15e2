/* SPDX-License-Identifier: MIT
 * server_header: reads the PROXY header of an accepted connection (protocol/proxy_header.h), before
 * TLS and data.
 *
 * The connection is served, counted as accepted and greeted once its header is complete; limits per
 * source then count the client that the header names or, if it names none, the peer.  The header
 * may take config->header_timeout_ns from when the connection was accepted, even if its bytes
 * arrive one by one.  A connection whose header is malformed, late or missing is refused: reset and
 * counted as such.  Used by the worker's thread only. */
#ifndef TCPSCALER_SERVER_HEADER_H
#define TCPSCALER_SERVER_HEADER_H

#include "base/units.h"
#include "server/conn.h"
#include "workload/srcplan.h"

/* The specification asks for 3 s or more, so that a lost segment can be repeated (section 2). */
#define SERVER_HEADER_TIMEOUT_NS (5 * UNITS_NS_PER_S)

/* Awaits the header of an accepted, non-blocking socket.  peer: its address; AF_UNSPEC if it is not
 * needed (server/admission.h).  Returns 0 or, if it cannot be watched, an errno: then the caller
 * keeps the socket. */
int server_header_open(struct server_conns *conns, int fd, const struct srcplan_tuple *peer);

#endif
