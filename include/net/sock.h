/* SPDX-License-Identifier: MIT
 * sock: the socket calls, with the options that this project needs.  No libevent.
 *
 * Every socket created here is non-blocking and close-on-exec and belongs to the caller.  Failures
 * return -1 with errno, unless stated otherwise.  Any thread. */
#ifndef TCPSCALER_NET_SOCK_H
#define TCPSCALER_NET_SOCK_H

#include "measure/outcome.h"
#include "net/sock_address.h"
#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sock_listen_options {
    int backlog;
    int sndbuf_bytes, rcvbuf_bytes; /* 0: kernel's default */
    bool reuse_port;                /* SO_REUSEPORT: one listener per worker */
};

/* Returns a listening socket; accepted sockets inherit TCP_NODELAY and the buffer sizes.  An IPv6
 * wildcard accepts IPv4 too, whatever net.ipv6.bindv6only says.  Sets SO_REUSEADDR, so that a
 * restart can bind at once. */
int sock_listen(const struct sock_address *address, const struct sock_listen_options *options);

/* Sets SO_REUSEPORT of a socket that listens without it: from then on, others with SO_REUSEPORT may
 * listen on its address.  Returns 0, or -1 with errno. */
int sock_share_port(int fd);

/* Gets the address that a socket is bound to, with the actual port if port 0 was requested. */
int sock_local_address(int fd, struct sock_address *address);

/* Returns whether the kernel would reach the address from an address of this host; also true if
 * that is unknown or there is no route.  Sends nothing. */
bool sock_has_local_address(const struct sock_address *target);

/* Returns whether the address is multicast or broadcast, to which no socket can connect; false also
 * if that is unknown.  Sends nothing. */
bool sock_is_of_group(const struct sock_address *target);

/* Whether connections to a target can have this source address, with any port. */
enum sock_source {
    SOCK_SOURCE_USABLE,      /* also if that is unknown */
    SOCK_SOURCE_FOREIGN,     /* not an address of this host */
    SOCK_SOURCE_LOOPBACK,    /* of loopback, from which the kernel does not reach the target */
    SOCK_SOURCE_NOT_UNICAST, /* the wildcard, multicast or broadcast: the kernel uses another one */
};

/* Sends nothing. */
enum sock_source sock_test_source(const struct srcplan_address *source,
                                  const struct sock_address *target);

/* Whether this host has a route to a target. */
enum sock_route {
    SOCK_ROUTE_FOUND, /* also if that is unknown */
    SOCK_ROUTE_NONE,  /* connections fail with REASON_ROUTE */
    SOCK_ROUTE_DENIED /* with REASON_PERMISSION: its type is prohibit (ip-route(8)) */
};

/* What an errno of the kernel's search for a route means. */
enum sock_route sock_route_of_errno(int error);

/* For UDP, from the source, whose port does not matter; the target is of one host.  Sends nothing.
 */
enum sock_route sock_test_route(const struct sock_address *target,
                                const struct srcplan_tuple *source);

/* Gets the source address, with port 0, that the kernel would use for the target.  Sends nothing.
 */
int sock_route_source(const struct sock_address *target, struct sock_address *source);

struct sock_connect_options {
    bool datagrams;                 /* UDP: connect(2) only sets the peer */
    int sndbuf_bytes, rcvbuf_bytes; /* 0: kernel's default */
    bool stamp_received;            /* net/sock_stamp.h */
};

/* Starts a connect from the planned tuple (port 0 and AF_UNSPEC: the kernel selects both).  Returns
 * the socket, connecting or, as UDP sockets are, already connected; or -1 with errno and the phase
 * and reason in *failed.  A tuple in use fails in PHASE_BIND or PHASE_CONNECT with REASON_PORTS:
 * the caller tries the next one.  REASON_ROUTE: this host has no route, so nothing was sent. */
int sock_connect(const struct sock_address *target, const struct srcplan_tuple *source,
                 const struct sock_connect_options *options, struct outcome *failed);

/* Returns the error of a finished connect: 0 or an errno. */
int sock_error(int fd);

/* Returns whether a connect has succeeded. */
bool sock_is_connected(int fd);

/* Returns whether a connected socket is its own peer: its source port equals the target's, so its
 * SYN answered itself (RFC 9293, 3.5, simultaneous open). */
bool sock_is_its_own_peer(int fd);

/* TCP's state of an established connection (TCP_INFO, tcp(7)). */
struct sock_tcp {
    uint32_t retransmits; /* retransmitted segments, including SYNs */
    uint32_t duplicates;  /* segments that the peer reported as duplicates (DSACK, RFC 2883) */
    uint32_t min_rtt_us;  /* 0: unknown */
    uint32_t idle_ms;     /* since data was last sent or received ... */
    uint32_t unsent_ms;   /* ... or sent ... */
    uint32_t unheard_ms;  /* ... or received, or since it was connected; in steps of up to 10 ms */
    uint32_t timeouts;    /* retransmissions and probes since the peer last acknowledged anything;
                           * TCP probes if this host drops what it sends, as no packet is on the
                           * way then (net/ipv4/tcp_output.c, tcp_check_probe_timer) */
};

/* All 0 if the kernel does not say, but unheard_ms UINT32_MAX. */
struct sock_tcp sock_tcp(int fd);

/* Gets the socket's source tuple; family AF_UNSPEC if it has none. */
void sock_local_tuple(int fd, struct srcplan_tuple *tuple);

/* Returns whether the peer has yet to acknowledge some of what was sent. */
bool sock_has_unacknowledged(int fd);

/* Makes close() send a reset, which leaves no TIME_WAIT. */
void sock_reset_on_close(int fd);

/* Acknowledges received segments at once (TCP_QUICKACK, tcp(7)).  The kernel may end this by itself
 * at any time. */
void sock_quickack(int fd);

#endif
