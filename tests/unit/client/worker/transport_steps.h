/* SPDX-License-Identifier: MIT
 * transport_steps: a transport without a worker, for tests of its connections. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKER_TRANSPORT_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKER_TRANSPORT_STEPS_H

#include "client/worker/conn.h"

static struct client_config config;
static struct client_figures figures;
static struct client_transport transport;

/* Returns 0 or -1. */
static inline int transport_begin(const struct client_conn_ops *ops, uint32_t n_conns)
{
    figures = (struct client_figures){0};
    config = (struct client_config){.quiet = true, .connect_timeout_ns = 1000000000};
    transport = (struct client_transport){.config = &config,
                                          .query = &config.query,
                                          .ops = ops,
                                          .owner = &transport,
                                          .base = event_base_new(),
                                          .figures = &figures,
                                          .n_conns = n_conns};
    if (transport.base == NULL || client_figures_init(&figures, n_conns, false, 0) != 0)
        return -1;
    return client_transport_init(&transport);
}

static inline void transport_end(void)
{
    client_transport_free(&transport);
    client_figures_free(&figures);
    event_base_free(transport.base);
}

#endif
