/* SPDX-License-Identifier: MIT
 * sockdiag: lists the TCP and UDP sockets of this network namespace with sock_diag(7): unlike
 * /proc/net/tcp it filters by state in the kernel, so that listing the listeners costs the same
 * with a million open connections.  Sockets of IPv6 that have addresses of IPv4 (::ffff:192.0.2.1)
 * count as those of IPv4.  Any thread. */
#ifndef TCPSCALER_HOST_SOCKDIAG_H
#define TCPSCALER_HOST_SOCKDIAG_H

#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sock_address;

/* Calls on_port(context, local port) for every listening TCP socket, IPv4 and IPv6.  Returns 0, or
 * -1 with errno if the kernel does not answer; some ports may have been reported then. */
int sockdiag_listeners(void (*on_port)(void *context, uint16_t port), void *context);

/* The same for every UDP socket that is bound to all addresses or, if `of_any` is set, to any. */
int sockdiag_udp_ports(bool of_any, void (*on_port)(void *context, uint16_t port), void *context);

/* TCP sockets of this namespace that are being opened to or closed towards a peer; established ones
 * are not counted, since listing a million of them would take seconds. */
struct sockdiag_states {
    uint64_t syn_sent, fin_wait, time_wait, close_wait, other;
};

/* Returns 0, or -1 with errno; the counts are unknown then. */
int sockdiag_count(const struct sock_address *peer, struct sockdiag_states *states);

struct sockdiag_tuples {
    uint64_t n_time_wait;
    uint64_t ends_ms; /* until the last one leaves TIME_WAIT */
    uint64_t n_open;
};

/* Counts the TCP sockets of this namespace towards a peer whose own address and port
 * is_counted(context, source) accepts: those in TIME_WAIT and, if `with_open` is set, those that
 * are open, which takes some microseconds for each.  Returns 0, or -1 with errno; the counts are
 * unknown then. */
int sockdiag_tuples(const struct sock_address *peer, bool with_open,
                    bool (*is_counted)(const void *context, const struct srcplan_tuple *source),
                    const void *context, struct sockdiag_tuples *tuples);

/* UDP sockets of this namespace whose own address and port is_counted() accepts, whatever their
 * peer, if any; none is in TIME_WAIT.  Returns as above. */
int sockdiag_udp_tuples(sa_family_t family,
                        bool (*is_counted)(const void *context, const struct srcplan_tuple *source),
                        const void *context, struct sockdiag_tuples *tuples);

#endif
