/* SPDX-License-Identifier: MIT
 * client_course: what is asked of all workers together and may change while they run: rates, the
 * end, the number of connections.  The main thread writes it, tells the workers, and each copies it
 * as a whole: what they have not yet taken over they never will, as there is something newer. */
#ifndef TCPSCALER_CLIENT_WORKER_TARGETS_H
#define TCPSCALER_CLIENT_WORKER_TARGETS_H

#include "workload/schedule.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct client_worker;

struct client_course {
    pthread_mutex_t lock;     /* of what follows; the main thread alone writes */
    struct schedule schedule; /* from the first query on */
    uint64_t end_ns;          /* of the measurement, absolute; PACER_NEVER */
    uint32_t n_connections;   /* wanted */
    uint32_t version;         /* of all this */
};

/* A worker's part. */
struct client_course_copy {
    struct schedule *schedule; /* NULL: nothing changes */
    _Atomic uint32_t version;  /* taken over */
};

/* Returns 0 or -1 with errno. */
int client_course_init(struct client_worker *cw);
void client_course_free(struct client_worker *cw);

/* The worker's thread: takes over what is asked now. */
void client_course_take(struct client_worker *cw);

#endif
