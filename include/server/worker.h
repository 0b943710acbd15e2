/* SPDX-License-Identifier: MIT
 * server_worker: one thread of tcpserver: its connections, one receive buffer, maybe a listener. */
#ifndef TCPSCALER_SERVER_WORKER_H
#define TCPSCALER_SERVER_WORKER_H

#include "net/worker.h"
#include "server/accept.h"
#include "server/conn.h"

/* CLOSE_OLDEST: number of connections; PAUSE: 1 pauses accepting, 0 resumes it. */
enum server_message { SERVER_CLOSE_OLDEST, SERVER_PAUSE, SERVER_STOP };

struct server_worker_place {
    struct server_accept_place accept;
    const int *keep_fds; /* what its fd table keeps, its listener included */
    uint32_t n_keep_fds;
};

struct server_worker {
    struct worker worker;                    /* first: the two are cast into each other */
    const struct server_worker_place *place; /* until it has started */
    struct server_accept accept;
    struct server_conns conns;
};

/* Starts a worker in zeroed memory.  With an own fd table it uses copies of the descriptors,
 * otherwise the listener becomes the worker's.  Returns 0 or -1 with errno.  After SERVER_STOP it
 * closes everything and ends; join it then. */
int server_worker_start(struct server_worker *sw, struct server_config *config,
                        const struct server_worker_place *place);

#endif
