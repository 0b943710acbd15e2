/* SPDX-License-Identifier: MIT
 * client_targets: what all workers are to reach together, and what may change during a run: the
 * rate, the end and the number of connections.  The main thread writes the targets and tells the
 * workers; each copies the newest version as a whole and skips older ones. */
#ifndef TCPSCALER_CLIENT_WORKER_TARGETS_H
#define TCPSCALER_CLIENT_WORKER_TARGETS_H

#include "workload/schedule.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct client_targets {
    pthread_mutex_t lock;     /* of what follows; the main thread alone writes */
    struct schedule schedule; /* from the first query on */
    uint64_t end_ns;          /* of the measurement, absolute; PACER_NEVER */
    uint32_t n_connections;   /* wanted */
    uint32_t version;         /* of all this */
};

/* A worker's copy. */
struct client_targets_copy {
    struct schedule *schedule; /* NULL: nothing changes */
    uint64_t end_ns;
    uint32_t n_connections;   /* of all workers */
    uint32_t version;         /* of the copy */
    _Atomic uint32_t reached; /* the version that the worker follows; any thread may read it */
};

/* targets: NULL: nothing changes.  Returns 0 or -1 with errno. */
int client_targets_init(struct client_targets_copy *copy, const struct client_targets *targets);
void client_targets_free(struct client_targets_copy *copy);

/* The worker's thread: copies the newest targets. */
void client_targets_update(struct client_targets_copy *copy, struct client_targets *targets);

/* The worker's thread: it follows the copy. */
void client_targets_mark_reached(struct client_targets_copy *copy);

#endif
