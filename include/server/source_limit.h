/* SPDX-License-Identifier: MIT
 * source_limit: limits the number of connections per source.  A source is an IPv4 address or the
 * first 64 bits of an IPv6 address, the part that identifies one host or site.
 *
 * All memory is allocated at the start, at most 24 bytes per possible connection, and the kernel
 * provides only the part that is used.  A source is forgotten when its last connection ends, so
 * there are never more sources than connections, even with forged addresses.  One lock for all
 * threads, held for a short search.  A secret number determines the bucket of a source, so
 * attackers cannot choose sources that collide. */
#ifndef TCPSCALER_SERVER_SOURCE_LIMIT_H
#define TCPSCALER_SERVER_SOURCE_LIMIT_H

#include <stdint.h>
#include <sys/socket.h>

struct source_limit;

#define SOURCE_LIMIT_REACHED UINT32_MAX

/* For at most `most` connections per source and n_connections in total (below 2^31).  Returns NULL
 * if out of memory. */
struct source_limit *source_limit_new(uint64_t most, uint32_t n_connections, uint64_t secret);
void source_limit_free(struct source_limit *l); /* NULL: no effect */

/* Returns the source of a peer's address.  IPv4-mapped IPv6 addresses count as IPv4. */
uint64_t source_limit_source(const struct sockaddr *peer);

/* Adds a connection of a source.  Returns the value to pass to source_limit_leave() when it ends,
 * or SOURCE_LIMIT_REACHED if the source has `most` connections or there are n_connections in total.
 * Any thread. */
uint32_t source_limit_enter(struct source_limit *l, uint64_t source);

/* Removes the connection for which source_limit_enter() returned `entry`.  Any thread. */
void source_limit_leave(struct source_limit *l, uint32_t entry);

#endif
