/* SPDX-License-Identifier: MIT
 * server_workers: see server/workers.h. */
#include "server/workers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_start.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_NS UNITS_NS_PER_S

/* Helpers need each other's listeners; without helpers, a table keeps only its own. */
static int list_kept_fds(struct server_workers *w)
{
    const struct server_overflow *o = &w->config->overflow;

    w->keep_fds = calloc(w->listeners->n + 3, sizeof *w->keep_fds);
    if (w->keep_fds == NULL)
        return -1;
    memcpy(w->keep_fds, w->listeners->fds, w->listeners->n * sizeof *w->keep_fds);
    w->keep_fds[w->listeners->n] = o->set_fd;
    w->keep_fds[w->listeners->n + 1] = o->turn_fd;
    w->keep_fds[w->listeners->n + 2] = o->wanted_fd;
    w->n_keep_fds = w->listeners->n + 3;
    return 0;
}

static int make_room(struct server_workers *w)
{
    struct server_worker **list = realloc(w->list, (w->n + 1) * sizeof(struct server_worker *));
    const struct server_tally **tallies;

    if (list == NULL)
        return -1;
    w->list = list;
    tallies = realloc(w->tallies, (w->n + 1) * sizeof(const struct server_tally *));
    if (tallies == NULL)
        return -1;
    w->tallies = tallies;
    return 0;
}

static int add(struct server_workers *w, bool suspended)
{
    struct server_worker *sw = calloc(1, sizeof *sw);
    const struct server_worker_params params = {
        .accept = {.worker_index = w->n,
                   .listener_fd = w->n < w->listeners->n ? w->listeners->fds[w->n] : -1,
                   .suspended = suspended},
        .keep_fds = w->keep_fds,
        .n_keep_fds = w->n_keep_fds,
    };
    int error;

    if (sw == NULL)
        return -1;
    if (make_room(w) != 0 || server_worker_start(sw, w->config, &params) != 0) {
        error = errno;
        free(sw);
        errno = error;
        return -1;
    }
    w->list[w->n] = sw;
    w->tallies[w->n] = &sw->conns.tally;
    w->n++;
    return 0;
}

int server_workers_start(struct server_workers *w, struct server_config *config,
                         struct server_listeners *listeners, uint32_t n, uint32_t most)
{
    w->config = config;
    w->listeners = listeners;
    w->most = most;
    if (!config->own_fd_tables)
        server_spare_open(&config->spare, config->n_kept_fds);
    /* a single worker or a shared table: there is no worker to help */
    if (server_overflow_open(&config->overflow, config->own_fd_tables && most > 1, most > n) != 0)
        return log_error("cannot start threads: %s%s", strerror(errno), thread_start_hint(errno));
    if (list_kept_fds(w) != 0)
        return log_error("out of memory");
    while (w->n < n)
        if (add(w, false) != 0)
            return log_error("cannot start thread %" PRIu32 ": %s%s", w->n, strerror(errno),
                             thread_start_hint(errno));
    return 0;
}

bool server_workers_grow(struct server_workers *w, bool suspended)
{
    struct server_overflow *o = &w->config->overflow;

    if (!server_overflow_take_request(o))
        return false;
    if (add(w, suspended) == 0) {
        w->warned = false;
        server_overflow_let_grow(o, w->n < w->most);
        return true;
    }
    if (!w->warned && !w->config->quiet)
        log_error("cannot start thread %" PRIu32 ": %s%s; trying again every second", w->n,
                  strerror(errno), thread_start_hint(errno));
    w->warned = true;
    server_overflow_let_grow(o, false);
    w->retry_ns = clock_now_ns() + RETRY_NS;
    return false;
}

void server_workers_look(struct server_workers *w)
{
    if (w->retry_ns == 0 || clock_now_ns() < w->retry_ns)
        return;
    w->retry_ns = 0;
    server_overflow_let_grow(&w->config->overflow, true);
}

void server_workers_post(const struct server_workers *w, enum server_message kind, uint64_t value)
{
    for (uint32_t i = 0; i < w->n; i++)
        worker_post(&w->list[i]->worker, (int)kind, value);
}

/* Workers with their own fd tables use copies; the others close the listeners themselves. */
static void close_listeners(const struct server_workers *w)
{
    for (uint32_t i = 0; i < w->n && i < w->listeners->n; i++)
        if (w->list[i]->worker.own_fd_table)
            close(w->listeners->fds[i]);
}

void server_workers_stop(struct server_workers *w)
{
    close_listeners(w);
    server_workers_post(w, SERVER_STOP, 0);
    for (uint32_t i = 0; i < w->n; i++)
        worker_join(&w->list[i]->worker);
}

void server_workers_free(struct server_workers *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        free(w->list[i]);
    free(w->list);
    free(w->tallies);
    free(w->keep_fds);
    if (w->config == NULL)
        return;
    if (!w->config->own_fd_tables)
        server_spare_close(&w->config->spare);
    server_overflow_close(&w->config->overflow);
}
