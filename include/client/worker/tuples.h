/* SPDX-License-Identifier: MIT
 * client_tuples: creates a worker's sockets, each connecting from the next source tuple.  Used by
 * the worker's thread only. */
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
    bool reuses;     /* use returned tuples again */
    bool falls_back; /* from now on, each destination has the tuples of config->fallback */
    struct srccursor fallbacks[CLIENT_CLASS_MOST]; /* by the first class of a destination */
};

/* For the worker with this slice of the connections. */
void client_tuples_init(struct client_tuples *t, const struct client_config *config,
                        uint32_t first_conn, uint32_t n_conns, bool reuses);
void client_tuples_free(struct client_tuples *t);

/* Starts a connect to `target`.  Returns a socket that is connecting or connected, and the number
 * of its planned tuple in *tuple (CLIENT_TUPLE_NONE: chosen by the kernel).  On failure returns -1
 * with errno and *failed; with REASON_PORTS and EAGAIN many tuples were refused, and others are
 * left for another call: they may be millions, and each takes some microseconds. */
int client_tuples_connect(struct client_tuples *t, const struct sock_address *target,
                          uint64_t *tuple, struct outcome *failed);

/* Returns a tuple that is no longer in use towards `target`.  CLIENT_TUPLE_NONE: no effect. */
void client_tuples_give_back(struct client_tuples *t, const struct sock_address *target,
                             uint64_t tuple);

#endif
