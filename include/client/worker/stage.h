/* SPDX-License-Identifier: MIT
 * client_stage: how far a worker has come.  The worker enters stages, the main thread reads them at
 * any time. */
#ifndef TCPSCALER_CLIENT_WORKER_STAGE_H
#define TCPSCALER_CLIENT_WORKER_STAGE_H

#include <stdatomic.h>

enum client_stage { CLIENT_CONNECTING, CLIENT_CONNECTED, CLIENT_LOADING, CLIENT_DRAINED };

struct client_stages {
    _Atomic int reached; /* enum client_stage */
    int wake_fd;         /* eventfd of the main thread, borrowed */
};

static inline enum client_stage client_stage_of(const struct client_stages *s)
{
    return (enum client_stage)atomic_load_explicit(&s->reached, memory_order_acquire);
}

/* Moves to a later stage and wakes the main thread; nothing when it was reached before. */
void client_stage_enter(struct client_stages *s, enum client_stage stage);

#endif
