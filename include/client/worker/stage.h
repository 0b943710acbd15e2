/* SPDX-License-Identifier: MIT
 * client_stage: the progress of a worker.  The worker enters stages; the main thread may read them
 * at any time. */
#ifndef TCPSCALER_CLIENT_WORKER_STAGE_H
#define TCPSCALER_CLIENT_WORKER_STAGE_H

#include <stdatomic.h>

enum client_stage { CLIENT_CONNECTING, CLIENT_CONNECTED, CLIENT_LOADING, CLIENT_DRAINED };

struct client_stages {
    _Atomic int reached; /* enum client_stage */
    int wake_fd;         /* the main thread's eventfd, borrowed */
};

static inline enum client_stage client_stage_of(const struct client_stages *s)
{
    return (enum client_stage)atomic_load_explicit(&s->reached, memory_order_acquire);
}

/* Enters a later stage and wakes up the main thread.  No effect if the stage was already reached.
 */
void client_stage_enter(struct client_stages *s, enum client_stage stage);

#endif
