/* SPDX-License-Identifier: MIT
 * sock_resolve: finds the address of a host, and tests whether a server accepts connections there.
 * Any thread. */
#ifndef TCPSCALER_NET_SOCK_RESOLVE_H
#define TCPSCALER_NET_SOCK_RESOLVE_H

#include "base/endpoint.h"
#include "net/sock_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCK_ERROR_BYTES        200
#define SOCK_GREETING_MAX_BYTES 128

/* Bytes that a server expects at the beginning of every connection, even of one that only tests it.
 */
struct sock_greeting {
    uint8_t bytes[SOCK_GREETING_MAX_BYTES];
    size_t n_bytes; /* 0: nothing */
};

/* Resolves a host (name or address, family AF_UNSPEC for any) to its first address.  Returns 0, or
 * -1 with one line in error (SOCK_ERROR_BYTES). */
int sock_resolve(const struct endpoint *e, int family, struct sock_address *address, char *error);

/* Likewise, but selects the first of several addresses that accepts a connection; if none does, the
 * first one.  With port 0, the first one, without a test. */
int sock_resolve_server(const struct endpoint *e, int family, const struct sock_greeting *greeting,
                        struct sock_address *address, char *error);

/* Returns whether the address accepts a connection within 1 s; false, too, if a signal asks the
 * program to end meanwhile (base/shutdown.h).  Greets, and resets it at once. */
bool sock_accepts(const struct sock_address *address, const struct sock_greeting *greeting);

#endif
