/* SPDX-License-Identifier: MIT
 * worker_steps: a worker of a few usable connections without sockets, for the tests of its parts.
 */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKER_WORKER_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKER_WORKER_STEPS_H

#include "client/worker/span.h"
#include "client/worker/transport.h"
#include "protocol/query_init.h"
#include "workload/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS    1000000ull
#define START (1000 * 1000 * MS)

enum { MOST_CONNS = 4 };

static struct client_config config;
static struct client_figures figures;
static struct client_transport transport;
static struct client_span span;
static struct client_conn conns[MOST_CONNS];

/* Worker `worker` of n_workers, each with n connections, all LIVE; round-robin, ping.  The load
 * runs for a second from START. */
static inline void start_worker(uint32_t worker, uint32_t n_workers, uint32_t n)
{
    char error[QUERY_ERROR_BYTES];

    config = (struct client_config){.n_connections = n * n_workers,
                                    .n_at_begin = n * n_workers,
                                    .n_workers = n_workers,
                                    .arrival = PACER_CONSTANT,
                                    .select = CLIENT_SELECT_ROUND_ROBIN,
                                    .timeout_ns = 100 * MS,
                                    .quiet = true};
    assert_int_equal(query_init(&config.query, QUERY_PING, &(struct query_ask){0}, error), 0);
    assert_int_equal(client_figures_init(&figures, n, false, 0), 0);
    transport = (struct client_transport){.config = &config,
                                          .query = &config.query,
                                          .figures = &figures,
                                          .conns = conns,
                                          .n_conns = n,
                                          .first_conn = worker * n,
                                          .worker = worker};
    span = (struct client_span){.start_ns = START,
                                .measure_ns = START,
                                .end_ns = START + 1000 * MS,
                                .now_ns = START,
                                .running = true};
    memset(conns, 0, sizeof conns);
    for (uint32_t i = 0; i < n; i++) {
        conns[i].transport = &transport;
        conns[i].state = CLIENT_CONN_LIVE;
        inflight_list_init(&conns[i].queries);
    }
    tally_add(&figures.n_live, n);
}

/* The connection is no longer usable. */
static inline void end_conn(uint32_t i)
{
    conns[i].state = CLIENT_CONN_ENDED;
    tally_sub(&figures.n_live, 1);
}

static inline int stop_worker(void **state)
{
    (void)state;
    query_free(&config.query);
    client_figures_free(&figures);
    figures = (struct client_figures){0};
    return 0;
}

#endif
