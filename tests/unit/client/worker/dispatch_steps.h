/* SPDX-License-Identifier: MIT
 * dispatch_steps: the parts of a worker that queue due queries on its connections. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKER_DISPATCH_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKER_DISPATCH_STEPS_H

#include "client/worker/dispatch.h"

#include "worker_steps.h"

static struct client_due due;
static struct client_queries queries;
static struct client_send send_queue;
static struct client_slots slots; /* not kept, unless a test allocates them */
static struct client_usable usable;
static struct client_pool pool;
static struct client_dispatch dispatch;

/* After start_worker(): constant arrivals from START on, all connections open.  takes_arrivals: one
 * flag per worker, borrowed. */
static inline void start_dispatch(double rate_qps, const bool *takes_arrivals)
{
    schedule_constant(&config.schedule, 1000 * MS, rate_qps);
    due = (struct client_due){.transport = &transport, .span = &span};
    queries = (struct client_queries){.transport = &transport, .figures = &figures, .span = &span};
    send_queue = (struct client_send){.transport = &transport, .queries = &queries};
    usable = (struct client_usable){.transport = &transport};
    dispatch = (struct client_dispatch){.transport = &transport,
                                        .span = &span,
                                        .due = &due,
                                        .queries = &queries,
                                        .send = &send_queue,
                                        .slots = &slots,
                                        .usable = &usable,
                                        .pool = &pool};
    client_pool_init(&pool, transport.n_conns, transport.n_conns);
    while (client_pool_has_next(&pool))
        client_pool_open_next(&pool);
    assert_int_equal(client_due_init(&due), 0);
    assert_int_equal(client_send_init(&send_queue), 0);
    assert_int_equal(inflight_init(&queries.inflight, 1, transport.query->protocol->has_id), 0);
    assert_int_equal(client_dispatch_init(&dispatch), 0);
    client_dispatch_start(&dispatch, takes_arrivals, START);
}

/* Frees the worker, too. */
static inline int stop_dispatch(void **state)
{
    inflight_free(&queries.inflight);
    client_send_free(&send_queue);
    client_due_free(&due);
    client_dispatch_free(&dispatch);
    client_usable_free(&usable);
    return stop_worker(state);
}

#endif
