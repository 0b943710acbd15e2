/* SPDX-License-Identifier: MIT
 * client_sources: the source addresses and ports of a run: those of --source and --sport, minus
 * those that cannot be used; without both, those the kernel chooses.
 *
 * When it chooses, connect(2) skips every port of a bound socket, also one in TIME_WAIT towards
 * another peer (Linux, __inet_hash_connect()): after a run with explicit ports it may find none for
 * 60 s, although bind(2) with SO_REUSEADDR and connect(2) can reuse each of them.  So there is a
 * fallback plan: the route's source address with the ports of net.ipv4.ip_local_port_range.  Ports
 * beyond that range belong to other services.  Main thread. */
#ifndef TCPSCALER_CLIENT_SOURCES_H
#define TCPSCALER_CLIENT_SOURCES_H

#include "client/opts.h"
#include "client/worker/config.h"
#include "host/limits.h"

struct client_sources {
    uint32_t n_excluded_ports; /* reserved or listening */
    uint64_t n_tuples;         /* available source tuples; HOST_LIMITS_UNKNOWN */
    uint64_t n_time_wait;      /* of them, in TIME_WAIT now; HOST_LIMITS_UNKNOWN */
    uint64_t time_wait_ends_s; /* until the last of these has left it */
};

/* Makes config->plan of the options, and counts the ports left out of it.  Returns 0, or -1 after
 * one line on stderr. */
int client_sources_read(struct client_sources *s, struct client_config *config,
                        const struct client_opts *o, const struct host_limits *host);

/* config->target is known, and is called target: takes its port out where a source has its address,
 * counts the tuples and those in TIME_WAIT, and, where the kernel chooses, makes the fallback plan,
 * empty when the system does not tell enough.  Returns 0, or -1 after one line on stderr. */
int client_sources_fit_target(struct client_sources *s, struct client_config *config,
                              const char *target, const struct host_limits *host);

void client_sources_free(struct client_config *config);

#endif
