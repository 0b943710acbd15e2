/* SPDX-License-Identifier: MIT
 * server_accept: see server/accept.h. */
#include "server/accept.h"

#include "base/clock.h"
#include "base/log.h"
#include "host/memory_watch.h"
#include "measure/outcome.h"
#include "net/sock.h"
#include "server/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Connections taken per wake-up: enough to amortise it, few enough not to delay the served ones. */
enum { ACCEPT_BATCH = 64, REFUSE_BATCH = 64 };

#define PAUSE_NS     (100 * 1000000ull)
#define LOOK_WAIT_NS (5 * 1000000ull)

static void refuse(struct server_worker *sw, int fd, enum server_refusal why)
{
    sock_reset_on_close(fd);
    close(fd);
    tally_add(&sw->tally.refused[why], 1);
    tally_add(&sw->tally.n_refused, 1);
}

/* Whose connection it is, is asked where there is a limit for it. */
static int take(int listener_fd, struct sock_address *peer)
{
    if (peer == NULL)
        return accept4(listener_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    peer->length = sizeof peer->ss;
    return accept4(listener_fd, (struct sockaddr *)&peer->ss, &peer->length,
                   SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static bool is_exhaustion(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Turns away those who wait, with the fd kept for it. */
static void refuse_waiting(struct server_worker *sw, int listener_fd, int error)
{
    const bool no_fd = error == EMFILE || error == ENFILE;
    struct server_accept *a = &sw->accept;
    int fd = 0;

    for (int i = 0; i < REFUSE_BATCH && fd >= 0; i++) {
        if (a->spare_fd >= 0)
            close(a->spare_fd);
        fd = take(listener_fd, NULL);
        if (fd >= 0)
            refuse(sw, fd, no_fd ? SERVER_REFUSED_FDS : SERVER_REFUSED_MEMORY);
        a->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

static void rest(struct server_accept *a, uint64_t ns)
{
    const struct timeval pause = clock_timeval(ns);

    a->paused = true;
    worker_add_timer(&a->resume_event, &pause);
}

static void pause_accepting(struct server_worker *sw, int listener_fd, int error)
{
    struct server_accept *a = &sw->accept;

    if (!a->warned && !sw->config->quiet)
        log_error("thread %u cannot accept more: %s; it refuses new connections meanwhile (%s)",
                  sw->worker.index, strerror(error),
                  outcome_remedy(outcome_reason_of_errno(error)));
    a->warned = true;
    refuse_waiting(sw, listener_fd, error);
    event_del(&a->listener_event);
    rest(a, PAUSE_NS);
    tally_add(&sw->tally.accept_pauses, 1);
}

/* The main thread is going to say how much memory is left, or that it is short. */
static void await_look(struct server_worker *sw)
{
    event_del(&sw->accept.listener_event);
    rest(&sw->accept, LOOK_WAIT_NS);
}

static bool is_full(const struct server_config *config)
{
    return config->max_connections != 0 &&
           atomic_load_explicit(&config->n_active, memory_order_relaxed) >= config->max_connections;
}

static void serve(struct server_worker *sw, int fd, const struct sock_address *peer)
{
    struct source_limit *limit = sw->config->source_limit;
    uint32_t entry = 0;

    if (is_full(sw->config)) {
        refuse(sw, fd, SERVER_REFUSED_CONNECTIONS);
        return;
    }
    if (limit != NULL) {
        entry = source_limit_enter(limit, source_limit_source((const struct sockaddr *)&peer->ss));
        if (entry == SOURCE_LIMIT_REACHED) {
            refuse(sw, fd, SERVER_REFUSED_SOURCE);
            return;
        }
    }
    if (server_conn_open(sw, fd, entry) == 0)
        return;
    if (limit != NULL)
        source_limit_leave(limit, entry);
    refuse(sw, fd, SERVER_REFUSED_MEMORY);
}

static void on_acceptable(evutil_socket_t listener_fd, short what, void *arg)
{
    struct server_worker *sw = arg;
    struct sock_address peer;

    (void)what;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        const bool has_memory = memory_watch_take(sw->config->memory);
        int fd;

        if (!has_memory && !memory_watch_is_short(sw->config->memory)) {
            await_look(sw);
            return;
        }
        fd = take(listener_fd, sw->config->source_limit != NULL ? &peer : NULL);
        if (fd >= 0 && has_memory) {
            serve(sw, fd, &peer);
        } else if (fd >= 0) {
            refuse(sw, fd, SERVER_REFUSED_MEMORY);
        } else if (errno == EAGAIN) {
            if (has_memory)
                memory_watch_give_back(sw->config->memory);
            return;
        } else if (is_exhaustion(errno)) {
            pause_accepting(sw, listener_fd, errno);
            return;
        }
        /* every other error belongs to the one connection that accept(2) took off the queue */
    }
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    server_accept_resume(arg);
}

int server_accept_start(struct server_worker *sw, int listener_fd)
{
    struct server_accept *a = &sw->accept;

    a->paused = a->suspended = false;
    a->warned = false;
    a->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    event_assign(&a->listener_event, sw->worker.base, listener_fd, EV_READ | EV_PERSIST,
                 on_acceptable, sw);
    evtimer_assign(&a->resume_event, sw->worker.base, on_rested, sw);
    return event_add(&a->listener_event, NULL);
}

void server_accept_resume(struct server_worker *sw)
{
    struct server_accept *a = &sw->accept;

    if (!a->paused)
        return;
    a->paused = false;
    event_del(&a->resume_event);
    if (event_add(&a->listener_event, NULL) != 0)
        rest(a, PAUSE_NS);
}

void server_accept_suspend(struct server_worker *sw, bool suspended)
{
    struct server_accept *a = &sw->accept;

    if (a->suspended == suspended)
        return;
    a->suspended = suspended;
    if (suspended) {
        a->paused = false;
        event_del(&a->resume_event);
        event_del(&a->listener_event);
    } else if (event_add(&a->listener_event, NULL) != 0) {
        rest(a, PAUSE_NS);
    }
}

void server_accept_stop(struct server_worker *sw)
{
    struct server_accept *a = &sw->accept;

    if (!event_initialized(&a->listener_event))
        return;
    a->paused = false;
    event_del(&a->resume_event);
    event_del(&a->listener_event);
    close(event_get_fd(&a->listener_event));
    if (a->spare_fd >= 0)
        close(a->spare_fd);
}
