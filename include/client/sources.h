/* SPDX-License-Identifier: MIT
 * client_sources: source addresses and ports of a run: those of --source and --sport, minus the
 * unusable ones; without both options, the kernel selects.
 *
 * When the kernel selects, connect(2) skips every port of a bound socket, including sockets in
 * TIME_WAIT towards another peer (Linux, __inet_hash_connect()).  After a run with explicit ports
 * it may find none for 60 s, although bind(2) with SO_REUSEADDR and connect(2) can reuse each of
 * them.  Therefore there is a fallback plan: the route's source address with the ports of
 * net.ipv4.ip_local_port_range.  Ports outside that range belong to other services.  UDP has
 * neither.  Main thread. */
#ifndef TCPSCALER_CLIENT_SOURCES_H
#define TCPSCALER_CLIENT_SOURCES_H

#include "client/opts.h"
#include "client/worker/config.h"
#include "host/limits.h"

#include <netinet/in.h>

struct client_sources {
    uint32_t n_excluded_ports;   /* reserved or listening, of each address of --source; without it,
                                  * of each address that it would add */
    uint64_t n_usable_addresses; /* of --source, before the first that no connection can have;
                                  * HOST_LIMITS_UNKNOWN without --source */
    char unusable_address[INET6_ADDRSTRLEN]; /* that one; "" if none was found */
    enum sock_source unusable;               /* why */
    bool may_be_foreign;                     /* it can be bound, but has no local route */
    uint64_t n_routed_addresses; /* of --source, before the first usable one without a route */
    char routeless_address[INET6_ADDRSTRLEN]; /* that one; "" if none was found */
    enum sock_route route; /* to the target from that one or, without --source, from the address
                            * that the kernel selects; found if all have one */
    bool loopback_is_down; /* and the target is here */
    uint64_t n_tuples;     /* available; HOST_LIMITS_UNKNOWN */
    /* Towards the target or, of the ports of classes, the one with the fewest tuples to spare. */
    uint64_t n_elsewhere;      /* connections that go to others */
    uint64_t n_in_use;         /* of the tuples, by other sockets; 0 if unknown */
    uint64_t n_time_wait;      /* in TIME_WAIT now; HOST_LIMITS_UNKNOWN */
    uint64_t time_wait_ends_s; /* time until all of these have left TIME_WAIT */
};

/* Creates config->plan and config->identities from the options and counts the excluded ports.
 * Returns 0, or -1 after one line on stderr. */
int client_sources_read(struct client_sources *s, struct client_config *config,
                        const struct client_opts *o, const struct host_limits *host);

/* Requires config->target and the classes; `target` is its name.  Excludes its port where a source
 * has its address, counts tuples, and those in use and in TIME_WAIT, looks for addresses that no
 * connection can have and for a route and, if the kernel selects, creates the fallback plan, which
 * is empty if the system does not say enough. Returns 0, or -1 after one line on stderr. */
int client_sources_fit_target(struct client_sources *s, struct client_config *config,
                              const char *target, const struct host_limits *host);

void client_sources_free(struct client_config *config);

#endif
