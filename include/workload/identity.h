/* SPDX-License-Identifier: MIT
 * identity: the client that a connection speaks for in its PROXY header (protocol/proxy_header.h):
 * an address of the plan and a port.
 *
 * Pure.  Neighbouring connections have different addresses: connection i of n addresses has address
 * i modulo n and, because every address has its ports in turn, port IDENTITY_FIRST_PORT + i / n.
 * The plan has addresses, but no ports. */
#ifndef TCPSCALER_WORKLOAD_IDENTITY_H
#define TCPSCALER_WORKLOAD_IDENTITY_H

#include "workload/srcplan.h"

#include <stdint.h>

#define IDENTITY_FIRST_PORT 1024u
#define IDENTITY_PORTS      64512u /* 1024 to 65535 */

/* Returns how many identities the plan has. */
uint64_t identity_capacity(const struct srcplan *sources);

/* Returns the identity of connection i; i < capacity. */
struct srcplan_tuple identity_of(const struct srcplan *sources, uint64_t i);

#endif
