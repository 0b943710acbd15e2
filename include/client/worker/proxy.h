/* SPDX-License-Identifier: MIT
 * client_proxy: the PROXY header of each connection: it names the connection's client identity
 * (workload/identity.h) as the source and the target as the destination.
 *
 * The identity belongs to the number of a connection, so the connections that follow one another in
 * a slot have the same.  If one address is IPv4 and the other IPv6, the header has the IPv4 address
 * mapped into IPv6 (RFC 4291, 2.5.5.2), as haproxy sends it.  Pure. */
#ifndef TCPSCALER_CLIENT_WORKER_PROXY_H
#define TCPSCALER_CLIENT_WORKER_PROXY_H

#include "client/worker/config.h"
#include "net/sock_resolve.h"
#include "protocol/proxy_header.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the header of a connection that only tests the server: it names no client.  Empty without
 * --proxy-protocol. */
struct sock_greeting client_proxy_greeting(const struct client_config *config);

/* Writes the header of a connection to an address, by its number over all workers.  Returns its
 * length in bytes.  Requires config->proxy. */
size_t client_proxy_header(const struct client_config *config, const struct sock_address *address,
                           uint64_t connection, uint8_t out[PROXY_HEADER_V1_MAX_BYTES]);

#endif
