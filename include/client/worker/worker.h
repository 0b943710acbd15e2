/* SPDX-License-Identifier: MIT
 * client_worker: one thread of tcpclient: its slice of the connections, its pacer, its figures.
 *
 *   main thread                    worker
 *   client_worker_start ---------> allocates all it will need
 *   CLIENT_OPEN(t)      ---------> CONNECTING: opens and proves its connections
 *   CLIENT_OPEN_ALL     ---------> opens those beyond the first window, too, though none is usable
 *                       <--------- CONNECTED: each of them is proven, half-open or ended
 *   CLIENT_START(t0)    ---------> LOADING: warm-up and measurement from t0 on, then drain
 *                       <--------- DRAINED: every query has its outcome
 *   CLIENT_CLOSE        ---------> closes everything, ends
 *   CLIENT_HAND_OVER at any time: the values recorded so far are the main thread's to collect.
 *   CLIENT_STEER after CLIENT_START: the targets have changed (client/worker/targets.h).
 *   CLIENT_STOP at any time: no more connects, queries in flight are cancelled, DRAINED.
 *
 * The main thread reads stages, gauges and tally at any time, the other figures after
 * client_worker_join(). */
#ifndef TCPSCALER_CLIENT_WORKER_WORKER_H
#define TCPSCALER_CLIENT_WORKER_WORKER_H

#include "client/worker/config.h"
#include "client/worker/figures.h"
#include "client/worker/stage.h"
#include "client/worker/targets.h"
#include "net/worker.h"

#include <stdbool.h>
#include <stdint.h>

/* In this order a worker takes those that it finds together. */
enum client_message {
    CLIENT_OPEN,
    CLIENT_OPEN_ALL,
    CLIENT_START,
    CLIENT_HAND_OVER,
    CLIENT_STEER,
    CLIENT_STOP,
    CLIENT_CLOSE
};

/* Two cache lines, which x86 fetches as a pair: no worker writes where another one reads. */
#define CLIENT_WORKER_ALIGNMENT 128

struct client_parts;

struct client_worker {
    _Alignas(
        CLIENT_WORKER_ALIGNMENT) struct worker worker; /* first: the two are cast into each other */
    const struct client_config *config;
    struct client_stages stages;
    struct client_figures figures;
    struct client_targets_copy targets;
    uint32_t first_conn, n_conns; /* its slice of all connections */
    /* Set by the main thread before CLIENT_START, borrowed: of each worker, whether it takes
     * arrivals: those with a usable connection do. */
    const bool *takes_arrivals;
    struct client_parts *parts; /* the worker's thread alone */
};

/* Starts worker `index` of zeroed memory.  Returns 0, or -1 with errno. */
int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index);

void client_worker_join(struct client_worker *cw);

/* Releases the figures; after the join and the merge. */
void client_worker_free(struct client_worker *cw);

#endif
