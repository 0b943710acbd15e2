/* SPDX-License-Identifier: MIT
 * client_worker: see client/worker/worker.h. */
#include "client/worker/worker.h"

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
    const uint32_t index = cw->worker.index;

    cw->first_conn = arrivals_first_connection(config->n_connections, config->n_workers, index);
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
    if (cw->config->record_connections) {
        cw->records = calloc(cw->n_conns, sizeof *cw->records);
        if (cw->records == NULL)
            return -1;
    }
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&cw->sets[0][m]) != 0 || hist_init(&cw->sets[1][m]) != 0)
            return -1;
    if (hist_init(&cw->connect_times) != 0 || hist_init(&cw->handshake_times) != 0 ||
        hist_init(&cw->min_rtts) != 0 || losses_init(&cw->losses) != 0 || client_tls_init(cw) != 0)
        return -1;
    cw->metrics = cw->sets[0];
    client_population_init(cw);
    if (cw->config->listens && client_listen_init(cw) != 0)
        return -1;
    return client_course_init(cw) != 0 || client_life_init(cw) != 0 || client_load_init(cw) != 0 ||
                   client_connect_init(cw) != 0
               ? -1
               : 0;
}

/* Only pointers change hands; nothing while the main thread is still busy with the last set. */
static void hand_over(struct client_worker *cw)
{
    const uint32_t n = atomic_load_explicit(&cw->n_handed_over, memory_order_relaxed);

    if (atomic_load_explicit(&cw->n_collected, memory_order_acquire) != n)
        return;
    cw->metrics = cw->sets[(n + 1) % 2];
    atomic_store_explicit(&cw->n_handed_over, n + 1, memory_order_release);
}

static void collect_set(struct hist *set, struct hist *into)
{
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        hist_merge(&into[m], &set[m]);
        hist_reset(&set[m]);
    }
}

void client_worker_collect(struct client_worker *cw, struct hist *into)
{
    const uint32_t n = atomic_load_explicit(&cw->n_handed_over, memory_order_acquire);

    if (atomic_load_explicit(&cw->n_collected, memory_order_relaxed) == n)
        return;
    collect_set(cw->sets[(n + 1) % 2], into);
    atomic_store_explicit(&cw->n_collected, n, memory_order_release);
}

void client_worker_collect_rest(struct client_worker *cw, struct hist *into)
{
    collect_set(cw->sets[0], into);
    collect_set(cw->sets[1], into);
}

static struct outcome final_outcome(const struct client_conn *c)
{
    switch (c->state) {
    case CLIENT_CONN_LIVE:
    case CLIENT_CONN_FINISHING:
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
        client_population_follow(cw, value + cw->config->warmup_ns);
        break;
    case CLIENT_HAND_OVER:
        hand_over(cw);
        break;
    case CLIENT_STEER:
        client_course_take(cw);
        break;
    case CLIENT_STOP:
        client_connect_stop(cw);
        client_load_stop(cw);
        break;
    case CLIENT_CLOSE:
        client_connect_begin_no_more(cw);
        for (uint32_t i = 0; i < cw->n_conns; i++)
            if (cw->conns[i].state != CLIENT_CONN_NEW)
                client_conn_close(&cw->conns[i], final_outcome(&cw->conns[i]), 0);
        client_population_cancel(cw);
        worker_finish(w);
        break;
    }
}

static bool before_turn(struct worker *w)
{
    return client_load_before_turn(of(w));
}

static void teardown(struct worker *w)
{
    struct client_worker *cw = of(w);

    client_load_free(cw);
    client_connect_free(cw);
    client_life_free(cw);
    client_listen_free(cw);
    client_course_free(cw);
    free(cw->received);
    free(cw->to_send);
    free(cw->conns);
}

int client_worker_start(struct client_worker *cw, const struct client_config *config,
                        uint32_t index)
{
    static const struct worker_ops ops = {.name = "client",
                                          .setup = setup,
                                          .on_message = on_message,
                                          .before_turn = before_turn,
                                          .teardown = teardown};
    const struct worker_place place = {.index = index,
                                       .cpu = cpulist_of(&config->cpus, index),
                                       .own_fd_table = config->own_fd_tables,
                                       .keep_fds = &config->wake_fd,
                                       .n_keep_fds = 1};

    cw->config = config;
    if (worker_start(&cw->worker, &ops, &place) == 0)
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
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++) {
        hist_free(&cw->sets[0][m]);
        hist_free(&cw->sets[1][m]);
    }
    hist_free(&cw->connect_times);
    hist_free(&cw->handshake_times);
    hist_free(&cw->min_rtts);
    hist_free(&cw->gaps);
    losses_free(&cw->losses);
    free(cw->records);
    client_tls_free(cw);
}
