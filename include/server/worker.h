/* SPDX-License-Identifier: MIT
 * server_worker: one thread of tcpserver: its connections, a receive buffer and possibly a
 * listener. */
#ifndef TCPSCALER_SERVER_WORKER_H
#define TCPSCALER_SERVER_WORKER_H

#include "net/worker.h"
#include "server/accept.h"
#include "server/conn.h"

/* CLOSE_OLDEST: number of connections; PAUSE: 1 pauses accepting, 0 resumes it. */
enum server_message { SERVER_CLOSE_OLDEST, SERVER_PAUSE, SERVER_STOP };

struct server_worker_params {
    struct server_accept_params accept;
    const int *keep_fds; /* descriptors to keep in its fd table, including its listener */
    uint32_t n_keep_fds;
};

struct server_worker {
    /* Must be first: pointers to the two are cast into each other. */
    struct worker worker;
    const struct server_worker_params *params; /* only valid until the worker has started */
    struct server_accept accept;
    struct server_conns conns;
};

/* Starts a worker in zeroed memory.  With its own fd table it uses copies of the descriptors,
 * otherwise it takes over the listener.  Returns 0 or -1 with errno.  SERVER_STOP makes it close
 * everything and end; join it then. */
int server_worker_start(struct server_worker *sw, struct server_config *config,
                        const struct server_worker_params *params);

#endif
