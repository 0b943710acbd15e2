/* SPDX-License-Identifier: MIT
 * preflight_client: what a run of tcpclient needs.  Data only. */
#ifndef TCPSCALER_HOST_PREFLIGHT_CLIENT_H
#define TCPSCALER_HOST_PREFLIGHT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

struct preflight_client {
    uint64_t n_connections;
    uint64_t n_elsewhere;          /* of these, not to the port of n_in_use */
    uint64_t n_tuples;             /* source (address, port) pairs towards the destination */
    uint64_t n_in_use;             /* of them, by other sockets */
    uint64_t n_time_wait;          /* of them, in TIME_WAIT now; HOST_LIMITS_UNKNOWN */
    uint64_t time_wait_ends_s;     /* until the last of these has left it */
    uint64_t n_addresses;          /* source addresses; 1 if the kernel chooses */
    uint64_t n_usable_addresses;   /* --source addresses before the first that cannot be used;
                                    * HOST_LIMITS_UNKNOWN: the kernel chooses */
    const char *unusable_address;  /* that one, if there is one */
    bool unusable_is_loopback;     /* and the target is not here; ... */
    bool unusable_is_not_unicast;  /* the wildcard, multicast or broadcast; ... */
    bool unusable_may_be_foreign;  /* it can be bound, but has no local route; else it is foreign */
    bool lacks_route;              /* to the server, or ... */
    bool route_is_denied;          /* its type is prohibit: ... */
    const char *routeless_address; /* from this one of --source ... */
    uint64_t n_routed_addresses;   /* after this number of others */
    bool loopback_is_down;         /* and the server is here */
    bool explicit_ports;
    uint32_t n_excluded_ports; /* of each address that --source would add, if the kernel chooses */
    uint16_t lowest_port;      /* explicit ports only */
    uint32_t n_threads;
    uint32_t n_helper_threads; /* that write rows or watch the server */
    uint32_t n_classes;
    uint64_t rows_bytes, in_flight_bytes; /* memory for rows to write, and for queries in flight */
    uint64_t touched_rows_bytes;          /* the part of rows_bytes that is touched */
    uint64_t kept_bytes;                  /* per connection, in addition: records, slots to reuse */
    bool own_fd_tables;
    uint64_t reserved_fds; /* per table */
    bool peer_is_here;     /* the server shares this host's limits */
    bool ipv6;             /* the server's address */
    bool closes_with_fin;
    bool listens;       /* closes first and reads to the end: TIME_WAIT also without fin */
    double churn_per_s; /* replacement connections by design; 0: none */
    uint64_t connect_window;
    bool window_is_fixed; /* --connect-window would be refused */
    bool tls;
    bool udp; /* connections are UDP sockets, and the server has none for each */
};

#endif
