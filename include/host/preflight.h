/* SPDX-License-Identifier: MIT
 * preflight: checks whether N connections fit: compares what this host has with what they need,
 * limit by limit, each with the command that raises it.  Pure: facts and requirements in, lines
 * out.  host/memory_model.h has the memory requirements. */
#ifndef TCPSCALER_HOST_PREFLIGHT_H
#define TCPSCALER_HOST_PREFLIGHT_H

#include "host/limits.h"
#include "host/memory_model.h"
#include "host/preflight_client.h"
#include "host/preflight_line.h"

#include <stdbool.h>
#include <stdint.h>

struct preflight_server {
    uint64_t n_connections;
    uint32_t n_threads;
    bool own_fd_tables;
    uint64_t reserved_fds;
    uint64_t backlog; /* per thread */
    bool tls, counts_sources, closes_idle;
};

/* The connections and threads that use this host's memory. */
struct memory_ends preflight_client_ends(const struct preflight_client *ask);

void preflight_client(struct preflight *p, const struct host_limits *host,
                      const struct preflight_client *ask);
void preflight_server(struct preflight *p, const struct host_limits *host,
                      const struct preflight_server *ask);

#endif
