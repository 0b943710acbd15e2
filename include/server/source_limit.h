/* SPDX-License-Identifier: MIT
 * source_limit: limits the connections of each source to its share.  A source is an IPv4 address,
 * or the first 64 bits of an IPv6 address, which is what one host or one site owns.
 *
 * All memory is allocated at the start, at most 24 bytes per possible connection, of which the
 * kernel only provides what is used: a source costs nothing once its last connection has ended, so
 * there are never more sources than connections, even if addresses are forged.  One lock for all
 * threads, held for a short search; a secret number determines the slot of a source, so that nobody
 * outside can choose sources that collide. */
#ifndef TCPSCALER_SERVER_SOURCE_LIMIT_H
#define TCPSCALER_SERVER_SOURCE_LIMIT_H

#include <stdint.h>
#include <sys/socket.h>

struct source_limit;

#define SOURCE_LIMIT_REACHED UINT32_MAX

/* For at most `most` connections per source and n_connections in total (below 2^31).  Returns NULL
 * if out of memory. */
struct source_limit *source_limit_new(uint64_t most, uint32_t n_connections, uint64_t secret);
void source_limit_free(struct source_limit *l); /* NULL: nothing to do */

/* The source of a peer's address.  An IPv4-mapped IPv6 address is IPv4. */
uint64_t source_limit_source(const struct sockaddr *peer);

/* Adds a connection of a source.  Returns the value to pass to source_limit_leave() when it ends,
 * or SOURCE_LIMIT_REACHED: the source has `most`, or there are n_connections.  Any thread. */
uint32_t source_limit_enter(struct source_limit *l, uint64_t source);
void source_limit_leave(struct source_limit *l, uint32_t entry);

#endif
