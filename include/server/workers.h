/* SPDX-License-Identifier: MIT
 * server_workers: all workers of tcpserver together.  Main thread only. */
#ifndef TCPSCALER_SERVER_WORKERS_H
#define TCPSCALER_SERVER_WORKERS_H

#include "server/listeners.h"
#include "server/worker.h"

struct server_workers {
    struct server_config *config;
    struct server_listeners *listeners;
    struct server_worker **list;         /* the first n run */
    const struct server_tally **tallies; /* of each of them */
    uint32_t n, most;
    int *keep_fds; /* what each has in its fd table: the listeners, and how to help others */
    uint32_t n_keep_fds;
    uint64_t retry_ns; /* when a worker may be started again; 0: none has failed */
    bool warned;
};

/* Starts the first n workers, >= 1, of at most `most`; the listeners are the workers' from here on.
 * Returns 0; or -1 having said why: stop those that run. */
int server_workers_start(struct server_workers *w, struct server_config *config,
                         struct server_listeners *listeners, uint32_t n, uint32_t most);

/* When overflow.wanted_fd is readable: starts another worker, which accepts for those whose fd
 * tables are full; `suspended`: not before SERVER_PAUSE 0.  Returns whether it runs.  Where it
 * cannot be started, newcomers are refused until ... */
bool server_workers_grow(struct server_workers *w, bool suspended);

/* ... this, called several times per second, lets it be tried again. */
void server_workers_look(struct server_workers *w);

void server_workers_post(const struct server_workers *w, enum server_message kind, uint64_t value);

/* Ends all of them, and waits for that. */
void server_workers_stop(struct server_workers *w);
void server_workers_free(struct server_workers *w);

#endif
