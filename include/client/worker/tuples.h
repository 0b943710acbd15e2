/* SPDX-License-Identifier: MIT
 * client_tuples: sockets of a worker, each connecting from the next of its source tuples.  Used by
 * its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_TUPLES_H
#define TCPSCALER_CLIENT_WORKER_TUPLES_H

#include "client/worker/config.h"
#include "measure/outcome.h"
#include "workload/srccursor.h"

#include <stdbool.h>
#include <stdint.h>

#define CLIENT_TUPLE_NONE UINT64_MAX

struct client_tuples {
    const struct client_config *config;
    struct srccursor cursor;
    bool reuses; /* tuples that were given back are used again */
};

/* Of the worker with this slice of the connections. */
void client_tuples_init(struct client_tuples *t, const struct client_config *config,
                        uint32_t first_conn, uint32_t n_conns, bool reuses);
void client_tuples_free(struct client_tuples *t);

/* Starts a connect.  Returns the socket, connecting or connected, with *tuple, the number of its
 * planned tuple (CLIENT_TUPLE_NONE: the kernel chose); or -1 with errno and *failed. */
int client_tuples_connect(struct client_tuples *t, uint64_t *tuple, struct outcome *failed);

/* The tuple is not used any more.  CLIENT_TUPLE_NONE: nothing. */
void client_tuples_give_back(struct client_tuples *t, uint64_t tuple);

#endif
