/* SPDX-License-Identifier: MIT
 * workers_steps: two workers without threads, whose figures a test fills in itself. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKERS_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKERS_STEPS_H

#include "client/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_WORKERS = 2, CONNS_EACH = 3 };

static _Alignas(CLIENT_WORKER_ALIGNMENT) struct client_worker all[N_WORKERS];
static bool takes_arrivals[N_WORKERS];
static struct client_workers workers = {
    .all = all, .n = N_WORKERS, .takes_arrivals = takes_arrivals};

static inline int start_workers(void)
{
    static const struct client_config config;

    memset(all, 0, sizeof all);
    for (int i = 0; i < N_WORKERS; i++) {
        all[i].config = &config;
        all[i].n_conns = CONNS_EACH;
        all[i].stages.wake_fd = all[i].worker.mailbox_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (all[i].worker.mailbox_fd < 0 || pthread_mutex_init(&all[i].worker.lock, NULL) != 0 ||
            client_figures_init(&all[i].figures, CONNS_EACH, true, 0) != 0)
            return -1;
    }
    return 0;
}

static inline void stop_workers(void)
{
    for (int i = 0; i < N_WORKERS; i++) {
        client_figures_free(&all[i].figures);
        close(all[i].worker.mailbox_fd);
        pthread_mutex_destroy(&all[i].worker.lock);
    }
}

/* Takes the message that was posted to each worker.  Returns whether there was one. */
static inline bool take_posted(enum client_message kind)
{
    const uint32_t bit = 1u << kind;
    bool posted = true;

    for (int i = 0; i < N_WORKERS; i++) {
        posted &= (all[i].worker.posted & bit) != 0;
        all[i].worker.posted &= ~bit;
    }
    return posted;
}

#endif
