/* SPDX-License-Identifier: MIT
 * client_worker: one thread of tcpclient: its slice of the connections, its pacer, its figures.
 *
 *   main thread                    worker
 *   client_worker_start ---------> allocates everything it needs
 *   CLIENT_OPEN(t)      ---------> CONNECTING: opens and proves its connections
 *   CLIENT_OPEN_ALL     ---------> opens those beyond the first window, too, though none is usable
 *   CLIENT_OPEN_NO_MORE ---------> opens none but those being opened
 *                       <--------- CONNECTED: each of them is proven, half-open or ended
 *   CLIENT_START(t0)    ---------> LOADING: warm-up and measurement from t0 on, then drain
 *                       <--------- DRAINED: every query has its outcome
 *   CLIENT_CLOSE        ---------> closes everything, ends
 *   CLIENT_HAND_OVER at any time: hands the values recorded so far to the main thread.
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

/* A worker handles pending messages in this order. */
enum client_message {
    CLIENT_OPEN,
    CLIENT_OPEN_ALL,
    CLIENT_OPEN_NO_MORE,
    CLIENT_START,
    CLIENT_HAND_OVER,
    CLIENT_STEER,
    CLIENT_STOP,
    CLIENT_CLOSE
};

/* Two cache lines, which x86 fetches in pairs: no worker writes to memory that another one reads.
 */
#define CLIENT_WORKER_ALIGNMENT 128

struct client_parts;

struct client_worker {
    /* Must be first: pointers to the two are cast into each other. */
    _Alignas(CLIENT_WORKER_ALIGNMENT) struct worker worker;
    const struct client_config *config;
    struct client_stages stages;
    struct client_figures figures;
    struct client_targets_copy targets;
    uint32_t first_conn, n_conns; /* its slice of all connections */
    /* One flag per worker: takes arrivals, because it has a usable connection.  Set by the main
     * thread before CLIENT_START, borrowed. */
    const bool *takes_arrivals;
    struct client_parts *parts; /* worker's thread only */
};

/* Starts worker `index`.  *cw must be zeroed.  Returns 0, or -1 with errno. */
int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index);

void client_worker_join(struct client_worker *cw);

/* Releases the figures.  Call it after joining and merging. */
void client_worker_free(struct client_worker *cw);

#endif
