/* SPDX-License-Identifier: MIT
 * server_worker: see server/worker.h. */
#include "server/worker.h"

#include "base/clock.h"

#include <stdlib.h>

static struct server_worker *of(struct worker *w)
{
    return (struct server_worker *)w;
}

/* All connections have the same: a queue for each base, and nothing to be sorted. */
static int init_idle_timeout(struct server_worker *sw)
{
    const struct timeval wait = clock_timeval(sw->config->idle_timeout_ns);

    if (sw->config->idle_timeout_ns == 0)
        return 0;
    sw->idle_timeout = event_base_init_common_timeout(sw->worker.base, &wait);
    return sw->idle_timeout != NULL ? 0 : -1;
}

static int setup(struct worker *w)
{
    struct server_worker *sw = of(w);

    sw->buffer = malloc(SERVER_BUFFER_BYTES);
    sw->replies = malloc(SERVER_BUFFER_BYTES + TLS_RECORD_BYTES + 3);
    if (sw->buffer == NULL || sw->replies == NULL)
        return -1;
    if (sw->config->tls != NULL) {
        tls_worker_init(&sw->tls, sw->config->tls);
        sw->plain = malloc(SERVER_BUFFER_BYTES + TLS_RECORD_BYTES);
        if (sw->plain == NULL)
            return -1;
    }
    if (init_idle_timeout(sw) != 0 || server_push_init(sw) != 0)
        return -1;
    return server_accept_start(sw, sw->place->listener_fd, sw->place->suspended);
}

static void on_message(struct worker *w, int kind, uint64_t value)
{
    switch ((enum server_message)kind) {
    case SERVER_CLOSE_OLDEST:
        server_conns_close_oldest(of(w), value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
        break;
    case SERVER_PAUSE:
        server_accept_suspend(of(w), value != 0);
        break;
    case SERVER_STOP:
        server_conns_close_ended(of(w));
        worker_finish(w);
        break;
    }
}

static void teardown(struct worker *w)
{
    struct server_worker *sw = of(w);

    server_accept_stop(sw);
    server_conns_free(sw);
    server_push_free(sw);
    free(sw->buffer);
    free(sw->replies);
    tls_worker_free(&sw->tls);
    free(sw->plain);
}

static bool may_sleep(struct worker *w)
{
    (void)w;
    return false;
}

int server_worker_start(struct server_worker *sw, struct server_config *config,
                        const struct server_worker_place *place)
{
    static const struct worker_ops sleeping = {
        .name = "server", .setup = setup, .on_message = on_message, .teardown = teardown};
    static const struct worker_ops polling = {.name = "server",
                                              .setup = setup,
                                              .on_message = on_message,
                                              .before_turn = may_sleep,
                                              .teardown = teardown};
    const struct worker_place thread = {.index = place->index,
                                        .cpu = cpulist_of(&config->cpus, place->index),
                                        .own_fd_table = config->own_fd_tables,
                                        .keep_fds = place->keep_fds,
                                        .n_keep_fds = place->n_keep_fds};

    sw->config = config;
    sw->place = place;
    return worker_start(&sw->worker, config->busy_poll ? &polling : &sleeping, &thread);
}
