/* SPDX-License-Identifier: MIT
 * client_worker: one thread of tcpclient: its slice of the connections, its pacer, its figures.
 *
 *   main thread                    worker
 *   client_worker_start ---------> allocates all it will need
 *   CLIENT_OPEN(t)      ---------> CONNECTING: opens and proves its connections
 *                       <--------- CONNECTED: each of them is proven, half-open or ended
 *   CLIENT_START(t0)    ---------> LOADING: warm-up and measurement from t0 on, then drain
 *                       <--------- DRAINED: every query has its outcome
 *   CLIENT_CLOSE        ---------> closes everything, ends
 *   CLIENT_HAND_OVER at any time: the values recorded so far are the main thread's to collect.
 *   CLIENT_STEER after CLIENT_START: what is asked has changed (client/worker/targets.h).
 *   CLIENT_STOP at any time: no more connects, queries in flight are cancelled, DRAINED.
 *
 * The main thread reads stage, tally and gauges at any time, the rest after client_worker_join().
 */
#ifndef TCPSCALER_CLIENT_WORKER_WORKER_H
#define TCPSCALER_CLIENT_WORKER_WORKER_H

#include "client/worker/config.h"
#include "client/worker/conn.h"
#include "client/worker/connect.h"
#include "client/worker/load.h"
#include "client/worker/metric.h"
#include "client/worker/pool.h"
#include "client/worker/record.h"
#include "client/worker/select.h"
#include "client/worker/send.h"
#include "client/worker/slots.h"
#include "client/worker/subscribe.h"
#include "client/worker/targets.h"
#include "client/worker/tls.h"
#include "measure/hist.h"
#include "measure/losses.h"
#include "measure/tally.h"
#include "net/worker.h"

#include <stdatomic.h>

enum client_stage { CLIENT_CONNECTING, CLIENT_CONNECTED, CLIENT_LOADING, CLIENT_DRAINED };
/* In this order a worker takes those that it finds together. */
enum client_message {
    CLIENT_OPEN,
    CLIENT_START,
    CLIENT_HAND_OVER,
    CLIENT_STEER,
    CLIENT_STOP,
    CLIENT_CLOSE
};

#define CLIENT_RECEIVE_BYTES 65536u
#define CLIENT_SEND_BYTES    131072u /* holds at least one query of QUERY_MAX_BYTES */

/* Two cache lines, which x86 fetches as a pair: no worker writes where another one reads. */
#define CLIENT_WORKER_ALIGNMENT 128

struct client_worker {
    _Alignas(
        CLIENT_WORKER_ALIGNMENT) struct worker worker; /* first: the two are cast into each other */
    const struct client_config *config;
    _Atomic int stage;       /* enum client_stage */
    tally_count n_live;      /* gauge: usable connections */
    tally_count n_half_open; /* gauge: established, their proof timed out */
    tally_count n_deaf;      /* gauge: CLIENT_CONN_DEAF queries or more timed out in a row */
    tally_count in_flight;   /* gauge: measured queries sent and not yet accounted for */
    struct tally tally;
    struct hist sets[2][CLIENT_N_QUERY_METRICS]; /* one is recorded into, the other is the main
                                                    thread's */
    struct hist *metrics;                        /* the former */
    _Atomic uint32_t n_handed_over;              /* sets given to the main thread */
    _Atomic uint32_t n_collected;                /* sets it has merged and emptied */
    /* of the whole run: a second set would touch more pages than the connections of a small run */
    struct hist connect_times, handshake_times, min_rtts, gaps;
    struct losses losses;
    struct client_conn *conns;     /* n_conns, index first_conn + i */
    struct client_record *records; /* likewise; NULL: not asked for */
    uint32_t first_conn, n_conns;
    struct client_tls *tls; /* NULL: plain TCP */
    struct client_connect connect;
    struct client_lives lives;
    struct client_population population;
    struct client_load load;
    struct client_choice choice;
    struct client_send send;
    struct client_listen listen; /* only where config->listens */
    struct client_course_copy course;
    /* Set by the main thread before CLIENT_START, borrowed: of each worker, whether it takes
     * arrivals: those with a usable connection do. */
    const bool *takes_arrivals;
    uint8_t *received;   /* CLIENT_RECEIVE_BYTES */
    uint64_t arrived_ns; /* when the kernel had what was received last; 0: not known */
    uint8_t *to_send;    /* CLIENT_SEND_BYTES */
};

/* Starts worker `index` of zeroed memory.  Returns 0, or -1 with errno. */
int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index);

/* Of a connection of this worker; NULL when records are not asked for. */
static inline struct client_record *client_worker_record(const struct client_conn *c)
{
    struct client_worker *cw = c->worker;

    return cw->records != NULL ? &cw->records[c - cw->conns] : NULL;
}

/* Moves to a later stage and wakes the main thread.  The worker's own thread. */
void client_worker_enter(struct client_worker *cw, enum client_stage stage);

/* Main thread: adds what was handed over since the last time to into[CLIENT_N_QUERY_METRICS]. */
void client_worker_collect(struct client_worker *cw, struct hist *into);

/* Main thread, after the join: adds all of it that has not been collected. */
void client_worker_collect_rest(struct client_worker *cw, struct hist *into);

void client_worker_join(struct client_worker *cw);

/* Releases histograms and records; after the join and the merge. */
void client_worker_free(struct client_worker *cw);

#endif
