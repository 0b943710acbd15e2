/* SPDX-License-Identifier: MIT
 * server_worker: see server/worker.h. */
#include "server/worker.h"

#include "base/clock.h"
#include "server/conns.h"
#include "server/push.h"

#include <stdlib.h>

static struct server_worker *of(struct worker *w)
{
    return (struct server_worker *)w;
}

/* All connections share the timeout, so each base has one queue that needs no sorting. */
static int init_timeout(struct server_conns *conns, const struct timeval **timeout, uint64_t ns)
{
    const struct timeval wait = clock_timeval(ns);

    if (ns == 0)
        return 0;
    *timeout = event_base_init_common_timeout(conns->base, &wait);
    return *timeout != NULL ? 0 : -1;
}

static int init_timeouts(struct server_conns *conns)
{
    const struct server_config *config = conns->config;

    return init_timeout(conns, &conns->idle_timeout, config->idle_timeout_ns) != 0 ||
                   init_timeout(conns, &conns->header_timeout, config->header_timeout_ns) != 0
               ? -1
               : 0;
}

static int setup(struct worker *w)
{
    struct server_worker *sw = of(w);
    struct server_conns *conns = &sw->conns;

    conns->base = w->base;
    if (poller_init(&conns->poller, w->base) != 0)
        return -1;
    conns->buffer = malloc(SERVER_BUFFER_BYTES);
    conns->replies = malloc(SERVER_BUFFER_BYTES + TLS_RECORD_BYTES + 3);
    if (conns->buffer == NULL || conns->replies == NULL)
        return -1;
    if (conns->config->tls != NULL) {
        tls_worker_init(&conns->tls, conns->config->tls);
        conns->plain = malloc(SERVER_BUFFER_BYTES + TLS_RECORD_BYTES);
        if (conns->plain == NULL)
            return -1;
    }
    if (init_timeouts(conns) != 0 || server_push_init(conns, w->index) != 0)
        return -1;
    return server_accept_start(&sw->accept, conns, &sw->params->accept);
}

static void on_message(struct worker *w, int kind, uint64_t value)
{
    struct server_worker *sw = of(w);

    switch ((enum server_message)kind) {
    case SERVER_CLOSE_OLDEST:
        server_conns_close_oldest(&sw->conns, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
        break;
    case SERVER_PAUSE:
        server_accept_suspend(&sw->accept, value != 0);
        break;
    case SERVER_STOP:
        server_conns_close_ended(&sw->conns);
        worker_finish(w);
        break;
    }
}

static void teardown(struct worker *w)
{
    struct server_worker *sw = of(w);

    server_accept_stop(&sw->accept);
    server_conns_free(&sw->conns);
    server_push_free(&sw->conns);
    free(sw->conns.buffer);
    free(sw->conns.replies);
    tls_worker_free(&sw->conns.tls);
    free(sw->conns.plain);
}

static bool never_sleep(struct worker *w)
{
    (void)w;
    return false;
}

int server_worker_start(struct server_worker *sw, struct server_config *config,
                        const struct server_worker_params *params)
{
    static const struct worker_ops sleeping = {
        .name = "server", .setup = setup, .on_message = on_message, .teardown = teardown};
    static const struct worker_ops polling = {.name = "server",
                                              .setup = setup,
                                              .on_message = on_message,
                                              .before_turn = never_sleep,
                                              .teardown = teardown};
    const struct worker_params thread = {.index = params->accept.worker_index,
                                         .cpu =
                                             cpulist_of(&config->cpus, params->accept.worker_index),
                                         .own_fd_table = config->own_fd_tables,
                                         .keep_fds = params->keep_fds,
                                         .n_keep_fds = params->n_keep_fds};

    sw->conns.config = config;
    sw->params = params;
    return worker_start(&sw->worker, config->busy_poll ? &polling : &sleeping, &thread);
}
