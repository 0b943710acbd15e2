/* SPDX-License-Identifier: MIT
 * preflight: checks whether N connections fit: compares what this host has with what they need,
 * limit by limit, each with the command that raises it.  Pure: facts and requirements in, lines
 * out.  host/memory_model.h has the memory requirements. */
#ifndef TCPSCALER_HOST_PREFLIGHT_H
#define TCPSCALER_HOST_PREFLIGHT_H

#include "host/limits.h"
#include "host/memory_model.h"
#include "host/preflight_line.h"

#include <stdbool.h>
#include <stdint.h>

/* What a run of tcpclient needs. */
struct preflight_client {
    uint64_t n_connections;
    uint64_t n_tuples;         /* source (address, port) pairs towards the destination */
    uint64_t n_time_wait;      /* of them, in TIME_WAIT now; HOST_LIMITS_UNKNOWN */
    uint64_t time_wait_ends_s; /* until the last of these has left it */
    uint64_t n_addresses;      /* source addresses; 1 if the kernel chooses */
    bool explicit_ports;
    uint16_t lowest_port; /* explicit ports only */
    uint32_t n_threads;
    bool own_fd_tables;
    uint64_t reserved_fds; /* per table */
    bool peer_is_here;     /* the server shares this machine's limits: loopback */
    bool closes_with_fin;
    double churn_per_s; /* replacement connections by design; 0: none */
    uint64_t connect_window;
    bool tls;
    bool udp; /* connections are UDP sockets, and the server has none for each */
};

struct preflight_server {
    uint64_t n_connections;
    uint32_t n_threads;
    bool own_fd_tables;
    uint64_t reserved_fds;
    uint64_t backlog; /* per thread */
    bool tls;
};

/* The maximum sustainable rate of connections that this host opens and closes with FIN: each leaves
 * its source tuple in TIME_WAIT.  HOST_LIMITS_UNKNOWN: not limited by TIME_WAIT. */
uint64_t preflight_churn_per_s(const struct host_limits *host, const struct preflight_client *ask);

/* The connections and threads that use this host's memory. */
struct memory_ends preflight_client_ends(const struct preflight_client *ask);

void preflight_client(struct preflight *p, const struct host_limits *host,
                      const struct preflight_client *ask);
void preflight_server(struct preflight *p, const struct host_limits *host,
                      const struct preflight_server *ask);

#endif
