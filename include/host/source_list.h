/* SPDX-License-Identifier: MIT
 * source_list: what --source may name beyond plain addresses: @FILE, one item per line with '#'
 * comments; iface:NAME, the addresses of an interface; and link-local addresses with the name of
 * their interface, "fe80::1%eth0".  The addresses themselves are srcplan's. */
#ifndef TCPSCALER_HOST_SOURCE_LIST_H
#define TCPSCALER_HOST_SOURCE_LIST_H

#include "workload/srcplan.h"

#define SOURCE_LIST_ERROR_BYTES (SRCPLAN_ERROR_BYTES + 100)

/* Adds a comma-separated list of such items and of those of srcplan_add_sources() to the plan.
 * iface:NAME adds the interface's IPv4 addresses or, if it has none, its IPv6 addresses that are
 * not link-local, each once, whatever its prefix lengths.  An address that is in the plan twice is
 * refused.  Returns 0, or -1 with one line in error (SOURCE_LIST_ERROR_BYTES), which names the line
 * of a file, too. */
int source_list_add(struct srcplan *p, const char *list, char *error);

#endif
