/* SPDX-License-Identifier: MIT
 * client_targets: see client/worker/targets.h. */
#include "client/worker/targets.h"

#include <stddef.h>
#include <stdlib.h>

int client_targets_init(struct client_targets_copy *copy, const struct client_targets *targets,
                        uint32_t n_connections)
{
    copy->n_connections = n_connections;
    if (targets == NULL)
        return 0;
    copy->schedule = malloc(sizeof *copy->schedule);
    return copy->schedule != NULL ? 0 : -1;
}

void client_targets_free(struct client_targets_copy *copy)
{
    free(copy->schedule);
}

void client_targets_update(struct client_targets_copy *copy, struct client_targets *targets)
{
    pthread_mutex_lock(&targets->lock);
    *copy->schedule = targets->schedule;
    copy->measure_ns = targets->measure_ns;
    copy->end_ns = targets->end_ns;
    copy->queries_per_conn = targets->queries_per_conn;
    copy->size = targets->size;
    copy->version = targets->version;
    pthread_mutex_unlock(&targets->lock);
}

void client_targets_mark_reached(struct client_targets_copy *copy)
{
    atomic_store_explicit(&copy->reached, copy->version, memory_order_release);
}
