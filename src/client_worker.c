/* SPDX-License-Identifier: MIT
 * client_worker: see client_worker.h. */
#include "client_worker.h"

#include <stdlib.h>
#include <unistd.h>

static struct client_worker *of(struct worker *w)
{
    return (struct client_worker *)w;
}

void client_worker_enter(struct client_worker *cw, enum client_stage stage)
{
    const uint64_t one = 1;

    if (atomic_load_explicit(&cw->stage, memory_order_relaxed) >= (int)stage)
        return;
    atomic_store_explicit(&cw->stage, (int)stage, memory_order_release);
    if (write(cw->config->wake_fd, &one, sizeof one) < 0)
        return; /* the counter of an eventfd is full: a wake-up is pending anyway */
}

/* A contiguous slice; the first N % W workers have one more. */
static void take_slice(struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    uint32_t each = config->n_connections / config->n_workers;
    uint32_t rest = config->n_connections % config->n_workers;
    uint32_t index = cw->worker.index;

    cw->first_conn = index * each + (index < rest ? index : rest);
    cw->n_conns = pacer_connections_of(config->n_connections, config->n_workers, index);
}

static int setup(struct worker *w)
{
    struct client_worker *cw = of(w);

    take_slice(cw);
    cw->received = malloc(CLIENT_RECEIVE_BYTES);
    cw->to_send = malloc(CLIENT_SEND_BYTES);
    cw->conns = calloc(cw->n_conns, sizeof *cw->conns);
    if (cw->received == NULL || cw->to_send == NULL || cw->conns == NULL)
        return -1;
    for (uint32_t i = 0; i < cw->n_conns; i++)
        cw->conns[i].worker = cw;
    if (cw->config->record_connections) {
        cw->records = calloc(cw->n_conns, sizeof *cw->records);
        if (cw->records == NULL)
            return -1;
    }
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        if (hist_init(&cw->metrics[m]) != 0)
            return -1;
    return client_load_init(cw) != 0 || client_connect_init(cw) != 0 ? -1 : 0;
}

static struct outcome final_outcome(const struct client_conn *c)
{
    switch (c->state) {
    case CLIENT_CONN_LIVE:
        return (struct outcome){PHASE_RUN, REASON_FINISHED};
    case CLIENT_CONN_HALF_OPEN:
        return (struct outcome){PHASE_RECEIVE, REASON_HALF_OPEN};
    default:
        return (struct outcome){PHASE_RUN, REASON_CANCELLED};
    }
}

static void on_message(struct worker *w, int kind, uint64_t value)
{
    struct client_worker *cw = of(w);

    switch ((enum client_message)kind) {
    case CLIENT_OPEN:
        client_connect_start(cw, value);
        break;
    case CLIENT_START:
        client_load_start(cw, value);
        break;
    case CLIENT_STOP:
        client_connect_stop(cw);
        client_load_stop(cw);
        break;
    case CLIENT_CLOSE:
        for (uint32_t i = 0; i < cw->n_conns; i++)
            client_conn_close(&cw->conns[i], final_outcome(&cw->conns[i]), 0);
        worker_finish(w);
        break;
    }
}

static void teardown(struct worker *w)
{
    struct client_worker *cw = of(w);

    client_load_free(cw);
    free(cw->received);
    free(cw->to_send);
    free(cw->conns);
}

int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index)
{
    static const struct worker_ops ops = {"client", setup, on_message, teardown};

    cw->config = config;
    if (worker_start(&cw->worker, &ops, index, config->own_fd_tables, config->wake_fd) == 0)
        return 0;
    client_worker_free(cw);
    return -1;
}

void client_worker_join(struct client_worker *cw)
{
    worker_join(&cw->worker);
}

void client_worker_free(struct client_worker *cw)
{
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&cw->metrics[m]);
    free(cw->records);
}
