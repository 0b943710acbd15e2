/* SPDX-License-Identifier: MIT
 * server_workers: all workers of tcpserver.  Main thread only. */
#ifndef TCPSCALER_SERVER_WORKERS_H
#define TCPSCALER_SERVER_WORKERS_H

#include "server/listeners.h"
#include "server/worker.h"

struct server_workers {
    struct server_config *config;
    struct server_listeners *listeners;
    struct server_worker **list;         /* the first n are running */
    const struct server_tally **tallies; /* one per running worker */
    uint32_t n, most;
    int *keep_fds; /* descriptors in every fd table: the listeners, and those for helping others */
    uint32_t n_keep_fds;
    uint64_t retry_ns; /* earliest time to try starting a worker again; 0: no failure */
    bool warned;       /* that a worker cannot be started; false again once one was */
};

/* Starts the first n >= 1 workers of at most `most`, which take over the listeners.  Returns 0; or
 * -1 after logging an error: stop those that run. */
int server_workers_start(struct server_workers *w, struct server_config *config,
                         struct server_listeners *listeners, uint32_t n, uint32_t most);

/* Call it when overflow.wanted_fd is readable: starts another worker, which accepts for those whose
 * fd tables are full; suspended: only after SERVER_PAUSE 0.  Returns whether it was started.  If
 * starting failed, new connections are refused until server_workers_look() allows another attempt.
 */
bool server_workers_grow(struct server_workers *w, bool suspended);

/* Call it several times per second: allows another attempt one second after a worker could not be
 * started. */
void server_workers_look(struct server_workers *w);

/* Posts a message to each running worker. */
void server_workers_post(const struct server_workers *w, enum server_message kind, uint64_t value);

/* Stops all workers and waits for them. */
void server_workers_stop(struct server_workers *w);
void server_workers_free(struct server_workers *w);

#endif
