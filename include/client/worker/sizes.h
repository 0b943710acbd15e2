/* SPDX-License-Identifier: MIT
 * client_sizes: the size of the next answer of a connection while --sweep changes the size of
 * queries.  Answers without ids come in the order of the queries, so those still to come when the
 * size changes, to queries in flight or expired ones, have the earlier size and precede all others.
 * Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_SIZES_H
#define TCPSCALER_CLIENT_WORKER_SIZES_H

#include "client/worker/transport.h"
#include "workload/inflight.h"

#include <stdint.h>

struct client_sizes {
    struct client_transport *transport;
    struct inflight *inflight;
    uint32_t current; /* index into config->sizes */
    /* For each slot, answers of each size that are still to come; valid where owes_earlier is set.
     * NULL: the size does not change. */
    uint32_t *owed;
};

/* The fields before `current` are set by the caller.  Returns 0, or -1 if out of memory. */
int client_sizes_init(struct client_sizes *s);
void client_sizes_free(struct client_sizes *s);

/* Sends queries of this size from now on.  Sizes are used in the order of config->sizes. */
void client_sizes_change(struct client_sizes *s, uint32_t size);

/* Returns the query to which the next answer of a connection belongs; its owes_earlier is set. */
const struct query *client_sizes_next(const struct client_sizes *s, const struct client_conn *c);

/* That answer is complete. */
void client_sizes_answered(const struct client_sizes *s, struct client_conn *c);

#endif
