/* SPDX-License-Identifier: MIT
 * client_parts_params: what a worker gives its parts.  Data only. */
#ifndef TCPSCALER_CLIENT_WORKER_PARTS_PARAMS_H
#define TCPSCALER_CLIENT_WORKER_PARTS_PARAMS_H

#include "client/worker/config.h"
#include "client/worker/figures.h"
#include "client/worker/stage.h"
#include "client/worker/targets.h"

#include <stdint.h>

struct event_base;

/* All borrowed. */
struct client_parts_params {
    const struct client_config *config;
    struct event_base *base;
    struct client_figures *figures;
    struct client_stages *stages;
    struct client_targets_copy *targets;
    uint32_t worker;              /* index */
    uint32_t first_conn, n_conns; /* its slice of all connections */
};

#endif
