/* SPDX-License-Identifier: MIT
 * source_limit: how many connections each source has, so that none gets more than its share.
 *
 * A source is an IPv4 address, or the first 64 bits of an IPv6 address, which is what one host or
 * one site has for itself.  All memory is taken at the begin, at most 24 bytes for each connection
 * there is room for, of which the kernel gives what is used: a source costs nothing once its last
 * connection has ended, so that their number cannot exceed that of the connections, whoever they
 * pretend to be.  One lock for all threads, held for a short search; a secret number decides where
 * a source stands, so that nobody outside can choose sources that stand in each other's way. */
#ifndef TCPSCALER_SERVER_SOURCE_LIMIT_H
#define TCPSCALER_SERVER_SOURCE_LIMIT_H

#include <stdint.h>
#include <sys/socket.h>

struct source_limit;

#define SOURCE_LIMIT_REACHED UINT32_MAX

/* For up to `most` connections of each source and n_connections of all (below 2^31).  Returns NULL
 * without memory. */
struct source_limit *source_limit_new(uint64_t most, uint32_t n_connections, uint64_t secret);
void source_limit_free(struct source_limit *l); /* NULL: nothing to do */

/* The source of a peer's address.  IPv4 in an IPv6 address is IPv4. */
uint64_t source_limit_source(const struct sockaddr *peer);

/* One connection more of a source.  Returns what source_limit_leave() takes when it ends, or
 * SOURCE_LIMIT_REACHED: it has `most`, or there are n_connections.  Any thread. */
uint32_t source_limit_enter(struct source_limit *l, uint64_t source);
void source_limit_leave(struct source_limit *l, uint32_t entry);

#endif
