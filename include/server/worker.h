/* SPDX-License-Identifier: MIT
 * server_worker: one thread of tcpserver: its connections, one receive buffer, maybe a listener. */
#ifndef TCPSCALER_SERVER_WORKER_H
#define TCPSCALER_SERVER_WORKER_H

#include "net/tls.h"
#include "net/worker.h"
#include "server/accept.h"
#include "server/config.h"
#include "server/conn.h"
#include "server/push.h"
#include "server/tally.h"

/* What one receive call takes, and so the most a connection whose peer does not read can hold. */
#define SERVER_BUFFER_BYTES 65536u

/* CLOSE_OLDEST: so many connections; PAUSE: 1 pauses accepting, 0 resumes it. */
enum server_message { SERVER_CLOSE_OLDEST, SERVER_PAUSE, SERVER_STOP };

struct server_worker_place;

struct server_worker {
    struct worker worker; /* first: the two are cast into each other */
    struct server_config *config;
    const struct server_worker_place *place; /* until it has started */
    struct server_accept accept;
    struct server_conns conns;
    struct server_tally tally;
    const struct timeval *idle_timeout; /* of the base's common timeouts; NULL: none */
    struct server_push *push;           /* NULL: nothing is pushed */
    uint8_t *buffer;                    /* SERVER_BUFFER_BYTES: what was received */
    uint8_t *replies;                   /* ping: what is answered to it */
    struct tls_worker tls;
    uint8_t *plain; /* TLS: what the buffer has in it; NULL: plain TCP */
};

struct server_worker_place {
    uint32_t index;
    int listener_fd;     /* -1: it accepts for others alone */
    const int *keep_fds; /* what its fd table keeps, this listener included */
    uint32_t n_keep_fds;
    bool suspended; /* does not accept before SERVER_PAUSE 0 */
};

/* Starts a worker in zeroed memory.  With an own fd table it uses copies of the descriptors,
 * otherwise the listener becomes the worker's.  Returns 0 or -1 with errno.  After SERVER_STOP it
 * closes everything and ends; join it then. */
int server_worker_start(struct server_worker *sw, struct server_config *config,
                        const struct server_worker_place *place);

#endif
