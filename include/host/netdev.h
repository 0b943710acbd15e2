/* SPDX-License-Identifier: MIT
 * netdev: the network interface that a run uses, and its counters (/proc/net/dev).
 *
 * It counts all traffic of the interface, not only the run's; offloads (GSO, GRO) count many
 * packets as one.  Any thread. */
#ifndef TCPSCALER_HOST_NETDEV_H
#define TCPSCALER_HOST_NETDEV_H

#include "net/sock.h"

#include <stdbool.h>
#include <stdint.h>

#define NETDEV_NAME_BYTES 16 /* IF_NAMESIZE */

/* Since the interface was created: subtract two readings. */
struct netdev_counters {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
};

/* The interface through which packets to the target leave, over UDP (datagrams) or TCP, by the
 * routing table and its rules ("lo" for an address of this host; see rtnetlink(7), RTM_GETROUTE).
 * source: its port does not matter; AF_UNSPEC: the kernel's choice.  Returns 0, or -1 with errno.
 */
int netdev_towards(const struct sock_address *target, const struct srcplan_tuple *source,
                   bool datagrams, char name[NETDEV_NAME_BYTES]);

/* Whether the target is an address of this host, loopback or another: a server there shares this
 * host's limits, and its packets do not leave this host.  By the routing table; if the kernel does
 * not answer, only loopback is known to be here. */
bool netdev_target_is_here(const struct sock_address *target);

/* Whether TCP has a route from the source, whose port does not matter, to the target, which is of
 * one host: as sock_test_route(), but rules may tell TCP from UDP (ip-rule(8), ipproto).  Sends
 * nothing.
 */
enum sock_route netdev_test_route(const struct sock_address *target,
                                  const struct srcplan_tuple *source);

/* Whether the interface is down, as "lo" is in a new network namespace; false if that is unknown.
 */
bool netdev_is_down(const char *name);

/* Whether no counter is less than in an earlier reading, that is, the interface was not created
 * again. */
bool netdev_counts_on(const struct netdev_counters *later, const struct netdev_counters *earlier);

/* Returns 0, or -1 if there is no such interface. */
int netdev_read(const char *name, struct netdev_counters *counters);

#endif
