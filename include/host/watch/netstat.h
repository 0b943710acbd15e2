/* SPDX-License-Identifier: MIT
 * netstat: the counters of a network namespace in /proc/net/netstat and /proc/net/snmp: pairs of
 * lines, "Tcp: name name ..." and "Tcp: value value ...".  Any thread. */
#ifndef TCPSCALER_HOST_WATCH_NETSTAT_H
#define TCPSCALER_HOST_WATCH_NETSTAT_H

#include <stdint.h>

#define NETSTAT_UNKNOWN UINT64_MAX

/* Reads one counter; `file` is such as "/proc/net/snmp", `group` "Tcp:".  NETSTAT_UNKNOWN: there is
 * none. */
uint64_t netstat_read(const char *file, const char *group, const char *name);

#endif
