/* SPDX-License-Identifier: MIT
 * watch_thread: samples a server in a thread of its own: ten times per second until the load
 * begins, then once per second.  It takes at most about 1 % of a CPU before the load, too. */
#ifndef TCPSCALER_HOST_WATCH_WATCH_THREAD_H
#define TCPSCALER_HOST_WATCH_WATCH_THREAD_H

#include "host/watch/watch.h"

#include <pthread.h>

/* What the client does at the moment of a sample. */
struct watch_load {
    uint64_t connections, queries;
    bool has_begun;
};

struct watch_thread {
    struct watch watch; /* opened by the caller */
    /* Called by the thread, set by the caller. */
    void (*load)(void *context, struct watch_load *load);
    void *context;
    struct watch_series series; /* owned by the thread while it runs */
    pthread_t thread;
    int stop_fd;
    bool is_running;
};

/* Takes the first sample, without a load, and starts the thread.  The server's end is logged when
 * it is noticed.  Returns 0, also if the first sample shows that the server has ended: no thread
 * runs then; or -1 with errno and the same as watch.end. */
int watch_thread_start(struct watch_thread *t);

/* Takes the last sample and ends the thread; waits for a sample under way.  No-op if not running.
 */
void watch_thread_stop(struct watch_thread *t);

void watch_thread_free(struct watch_thread *t);

#endif
