/* SPDX-License-Identifier: MIT
 * server_worker: one thread of tcpserver: a listener, its connections, one receive buffer. */
#ifndef TCPSCALER_SERVER_WORKER_H
#define TCPSCALER_SERVER_WORKER_H

#include "server_accept.h"
#include "server_conn.h"
#include "server_tally.h"
#include "worker.h"

#include <stdatomic.h>

/* In the order of the option's choices. */
enum server_protocol { SERVER_ECHO, SERVER_PING };

#define SERVER_PROTOCOLS "echo|ping"

/* What one receive call takes, and so the most a connection whose peer does not read can hold. */
#define SERVER_BUFFER_BYTES 65536u

/* Shared by all workers; constant once they run, but for n_active. */
struct server_config {
    enum server_protocol protocol;
    uint64_t max_connections; /* of all workers; 0: no limit of our own */
    bool own_fd_tables;
    bool quiet;
    _Atomic uint64_t n_active; /* connections of all workers, for the limit */
};

enum server_message { SERVER_STOP };

struct server_worker {
    struct worker worker; /* first: the two are cast into each other */
    struct server_config *config;
    struct server_accept accept;
    struct server_conns conns;
    struct server_tally tally;
    uint8_t *buffer;  /* SERVER_BUFFER_BYTES: what was received */
    uint8_t *replies; /* ping: what is answered to it */
};

/* Starts worker `index`, in zeroed memory, on a listening socket: with an own fd table it uses a copy
 * and the caller closes the original, otherwise the socket becomes the worker's.  Returns 0 or -1 with
 * errno.  After SERVER_STOP it closes everything and ends; join it then. */
int server_worker_start(struct server_worker *sw, struct server_config *config, uint32_t index,
                        int listener_fd);

#endif
