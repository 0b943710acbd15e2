/* SPDX-License-Identifier: MIT
 * sock_address: an IPv4 or IPv6 address with a port, in the form of the socket calls.  Pure, except
 * that sock_format() looks up interface names (if_indextoname(3)). */
#ifndef TCPSCALER_NET_SOCK_ADDRESS_H
#define TCPSCALER_NET_SOCK_ADDRESS_H

#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define SOCK_TEXT_BYTES 80

struct sock_address {
    struct sockaddr_storage ss;
    socklen_t length;
};

/* "127.0.0.1:4242", "[::1]:4242", "[fe80::1%eth0]:4242".  Returns buffer. */
char *sock_format(char buffer[SOCK_TEXT_BYTES], const struct sock_address *address);

uint16_t sock_port(const struct sock_address *address);
void sock_set_port(struct sock_address *address, uint16_t port);
bool sock_is_loopback(const struct sock_address *address);

/* Whether it is a link-local address of IPv6 that does not name its interface: bind(2) and, unless
 * the source names one, connect(2) refuse it. */
bool sock_lacks_interface(const struct sock_address *address);

/* Converts an address and port to a tuple. */
struct srcplan_tuple sock_tuple(const struct sock_address *address);

/* The reverse: an address of the tuple's family; of AF_UNSPEC, all zero. */
void sock_set_tuple(struct sock_address *address, const struct srcplan_tuple *tuple);

#endif
