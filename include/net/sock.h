/* SPDX-License-Identifier: MIT
 * sock: the socket calls, each with the options this project needs.  No libevent.
 *
 * Every socket made here is non-blocking and close-on-exec and belongs to the caller.  Failures
 * return -1 with errno, unless stated otherwise.  Any thread. */
#ifndef TCPSCALER_NET_SOCK_H
#define TCPSCALER_NET_SOCK_H

#include "base/endpoint.h"
#include "measure/outcome.h"
#include "net/sock_address.h"
#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define SOCK_ERROR_BYTES 200

/* Resolves a host (name or address, family AF_UNSPEC for any).  With several addresses the first
 * that accepts a connection within 1 s is taken, or else the first.  Returns 0, or -1 with one line
 * in error (SOCK_ERROR_BYTES). */
int sock_resolve(const struct endpoint *e, int family, struct sock_address *address, char *error);

/* Whether a connection is accepted there within 1 s; it is reset at once. */
bool sock_accepts(const struct sock_address *address);

struct sock_listen_options {
    int backlog;
    int sndbuf_bytes, rcvbuf_bytes; /* 0: the kernel's choice */
    bool reuse_port;                /* SO_REUSEPORT: one listener per worker */
    bool busy_poll;                 /* SO_BUSY_POLL, inherited by accepted sockets */
};

/* A listening socket; accepted sockets inherit TCP_NODELAY and the buffer sizes.  An IPv6 wildcard
 * takes IPv4 too, whatever net.ipv6.bindv6only says.  SO_REUSEADDR: a restart binds at once. */
int sock_listen(const struct sock_address *address, const struct sock_listen_options *options);

/* Whether somebody listens on this very address already (a SO_REUSEPORT listener of another process
 * would share its connections silently). */
bool sock_is_in_use(const struct sock_address *address);

/* The address a listening socket got (port 0: which port). */
int sock_local_address(int fd, struct sock_address *address);

/* Whether this host has an address of its own from which the kernel would reach that one; also when
 * that cannot be told, or there is no route.  Nothing is sent. */
bool sock_has_local_address(const struct sock_address *target);

/* The address from which the kernel would reach the target, with port 0.  Nothing is sent. */
int sock_route_source(const struct sock_address *target, struct sock_address *source);

struct sock_connect_options {
    int sndbuf_bytes, rcvbuf_bytes; /* 0: the kernel's choice */
    bool stamp_received;            /* for sock_receive_stamped() */
    bool busy_poll;                 /* SO_BUSY_POLL: look into the device's queue while waiting */
};

/* Starts a connect from the planned tuple (port 0 and AF_UNSPEC: the kernel picks, at connect
 * time). Returns the socket (connecting or already connected), or -1 with the phase and reason in
 * *failed and errno set.  A bound tuple that is taken fails in PHASE_BIND or PHASE_CONNECT with
 * REASON_PORTS: the caller takes the next tuple. */
int sock_connect(const struct sock_address *target, const struct srcplan_tuple *source,
                 const struct sock_connect_options *options, struct outcome *failed);

/* The error of a finished connect: 0 or an errno. */
int sock_error(int fd);

/* Whether a connect has succeeded. */
bool sock_is_connected(int fd);

/* Whether a connected socket is its own peer: its source port was the target's, so that its SYN
 * answered itself (RFC 9293, 3.5, simultaneous open). */
bool sock_is_its_own_peer(int fd);

/* What TCP knows of an established connection (TCP_INFO, tcp(7)). */
struct sock_tcp {
    uint32_t retransmits; /* segments sent again so far, SYNs included */
    uint32_t duplicates;  /* segments that the peer reported to have twice (DSACK, RFC 2883) */
    uint32_t min_rtt_us;  /* 0: not known */
    uint32_t idle_ms;     /* since data was last sent or received */
};

/* All 0 where the kernel does not say. */
struct sock_tcp sock_tcp(int fd);

/* Whether the kernel stamps what arrives: 0, or -1. */
int sock_find_stamps(void);

/* recv(2), and when the last segment of what it returned arrived in the kernel: *arrived_epoch_ns
 * in CLOCK_REALTIME (SO_TIMESTAMPING, software, received), 0 when the kernel does not say. */
ssize_t sock_receive_stamped(int fd, void *data, size_t n_bytes, uint64_t *arrived_epoch_ns);

/* The socket's own; family AF_UNSPEC where it has none. */
void sock_local_tuple(int fd, struct srcplan_tuple *tuple);

/* After this, close() sends a reset and leaves no TIME_WAIT. */
void sock_reset_on_close(int fd);

void sock_quickack(int fd);

#endif
