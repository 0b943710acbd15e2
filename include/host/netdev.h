/* SPDX-License-Identifier: MIT
 * netdev: the network interface that a run loads, and its counters (/proc/net/dev).  Whole frames
 * are counted, whoever's they are; offloads (GSO, GRO) make one packet of many.  Any thread. */
#ifndef TCPSCALER_HOST_NETDEV_H
#define TCPSCALER_HOST_NETDEV_H

#include "net/sock.h"

#include <stdint.h>

#define NETDEV_NAME_BYTES 16 /* IF_NAMESIZE */

/* Since the interface exists: subtract two readings. */
struct netdev_counters {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
};

/* By which interface packets to the target leave, as the routing table has it ("lo" for an address
 * of this host; see rtnetlink(7), RTM_GETROUTE).  Returns 0, or -1 with errno. */
int netdev_towards(const struct sock_address *target, char name[NETDEV_NAME_BYTES]);

/* Returns 0, or -1 when there is no such interface. */
int netdev_read(const char *name, struct netdev_counters *counters);

#endif
