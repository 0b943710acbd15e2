/* SPDX-License-Identifier: MIT
 * server_config: what the workers of tcpserver are to do; constant once they run, but for n_active.
 */
#ifndef TCPSCALER_SERVER_CONFIG_H
#define TCPSCALER_SERVER_CONFIG_H

#include "cpulist.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In the order of the option's choices. */
enum server_protocol { SERVER_ECHO, SERVER_PING };

#define SERVER_PROTOCOLS "echo|ping"

struct server_config {
    enum server_protocol protocol;
    uint64_t max_connections; /* of all workers; 0: no limit of our own */
    struct cpulist cpus;      /* of the workers */
    bool busy_poll;           /* they never sleep */
    bool own_fd_tables;
    bool quiet;
    _Atomic uint64_t n_active; /* connections of all workers, for the limit */
};

#endif
