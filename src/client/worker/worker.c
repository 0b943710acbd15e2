/* SPDX-License-Identifier: MIT
 * client_worker: see client/worker/worker.h. */
#include "client/worker/worker.h"

#include "client/worker/parts.h"
#include "workload/arrivals.h"

static struct client_worker *of(struct worker *w)
{
    return (struct client_worker *)w;
}

/* Assigns a contiguous slice; the first N % W workers get one more. */
static void take_slice(struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    const uint32_t index = cw->worker.index;

    cw->first_conn = arrivals_first_connection(config->n_connections, config->n_workers, index);
    cw->n_conns = pacer_connections_of(config->n_connections, config->n_workers, index);
}

static int init_parts(struct client_worker *cw)
{
    const struct client_parts_params params = {.config = cw->config,
                                               .base = cw->worker.base,
                                               .figures = &cw->figures,
                                               .stages = &cw->stages,
                                               .targets = &cw->targets,
                                               .worker = cw->worker.index,
                                               .first_conn = cw->first_conn,
                                               .n_conns = cw->n_conns};

    cw->parts = client_parts_new(&params);
    return cw->parts != NULL ? client_parts_init(cw->parts) : -1;
}

static int setup(struct worker *w)
{
    struct client_worker *cw = of(w);
    const struct client_config *config = cw->config;

    take_slice(cw);
    return client_figures_init(&cw->figures, cw->n_conns, config->record_connections,
                               config->n_classes) != 0 ||
                   client_targets_init(&cw->targets, config->targets,
                                       pacer_connections_of(config->n_at_begin, config->n_workers,
                                                            w->index)) != 0 ||
                   init_parts(cw) != 0
               ? -1
               : 0;
}

static void teardown(struct worker *w)
{
    struct client_worker *cw = of(w);

    if (cw->parts != NULL)
        client_parts_release(cw->parts);
    client_targets_free(&cw->targets);
}

static void on_message(struct worker *w, int kind, uint64_t value)
{
    struct client_worker *cw = of(w);

    switch ((enum client_message)kind) {
    case CLIENT_OPEN:
        client_parts_open(cw->parts, value);
        break;
    case CLIENT_OPEN_ALL:
        client_parts_open_all(cw->parts);
        break;
    case CLIENT_OPEN_NO_MORE:
        client_parts_open_no_more(cw->parts);
        break;
    case CLIENT_START:
        client_parts_start(cw->parts, cw->takes_arrivals, value);
        break;
    case CLIENT_HAND_OVER:
        client_figures_hand_over(&cw->figures);
        break;
    case CLIENT_STEER:
        client_parts_steer(cw->parts);
        break;
    case CLIENT_STOP:
        client_parts_stop(cw->parts);
        break;
    case CLIENT_CLOSE:
        client_parts_close(cw->parts);
        worker_finish(w);
        break;
    }
}

static bool before_turn(struct worker *w)
{
    return client_parts_before_turn(of(w)->parts);
}

int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index)
{
    static const struct worker_ops ops = {.name = "client",
                                          .setup = setup,
                                          .on_message = on_message,
                                          .before_turn = before_turn,
                                          .teardown = teardown};
    const struct worker_params params = {.index = index,
                                         .cpu = cpulist_of(&config->cpus, index),
                                         .own_fd_table = config->own_fd_tables,
                                         .keep_fds = &config->wake_fd,
                                         .n_keep_fds = 1};

    cw->config = config;
    cw->stages.wake_fd = config->wake_fd;
    if (worker_start(&cw->worker, &ops, &params) == 0)
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
    client_figures_free(&cw->figures);
    client_parts_free(cw->parts);
}
