/* SPDX-License-Identifier: MIT
 * client_targets: what all workers together have to reach and what can change during a run: rate,
 * end, number of connections, and what --sweep changes.  The main thread writes the targets and
 * notifies the workers.  Each copies the newest version as a whole and skips older ones. */
#ifndef TCPSCALER_CLIENT_WORKER_TARGETS_H
#define TCPSCALER_CLIENT_WORKER_TARGETS_H

#include "workload/schedule.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct client_targets {
    pthread_mutex_t lock;     /* held to write the fields below, and to copy them */
    struct schedule schedule; /* from the first query on */
    uint64_t measure_ns;      /* queries due before it are warm-up */
    uint64_t end_ns;          /* end of the measurement; PACER_NEVER: none */
    uint32_t n_connections;   /* that all workers together should have */
    uint32_t queries_per_conn;
    uint32_t size;            /* index into config->sizes */
    _Atomic uint32_t version; /* incremented by every change */
};

/* A worker's copy. */
struct client_targets_copy {
    struct schedule *schedule; /* NULL: targets cannot change */
    uint64_t measure_ns, end_ns;
    /* that this worker should have; the main thread sets it before it increments the version */
    _Atomic uint32_t n_connections;
    uint32_t queries_per_conn, size;
    uint32_t version;         /* version of the copy */
    _Atomic uint32_t reached; /* version in effect; any thread may read it */
};

/* n_connections: that this worker should have at first.  targets NULL: targets cannot change.
 * Returns 0 or -1 with errno. */
int client_targets_init(struct client_targets_copy *copy, const struct client_targets *targets,
                        uint32_t n_connections);
void client_targets_free(struct client_targets_copy *copy);

/* Worker's thread: whether there are newer targets. */
static inline bool client_targets_are_newer(const struct client_targets *targets,
                                            const struct client_targets_copy *copy)
{
    return atomic_load_explicit(&targets->version, memory_order_acquire) != copy->version;
}

/* Worker's thread: copies the newest targets. */
void client_targets_update(struct client_targets_copy *copy, struct client_targets *targets);

/* Worker's thread: the copy is in effect. */
void client_targets_mark_reached(struct client_targets_copy *copy);

#endif
