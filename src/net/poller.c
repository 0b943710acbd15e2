/* SPDX-License-Identifier: MIT
 * poller: see net/poller.h. */
#include "net/poller.h"

#include "net/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* As libevent does: a socket with an error, or shut down in both directions, is ready for all. */
static int what_of(uint32_t events)
{
    if (events & (uint32_t)(EPOLLERR | EPOLLHUP))
        return EV_READ | EV_WRITE;
    return (events & EPOLLIN ? EV_READ : 0) | (events & EPOLLOUT ? EV_WRITE : 0);
}

static uint32_t events_of(int what)
{
    return (what & EV_READ ? EPOLLIN : 0u) | (what & EV_WRITE ? EPOLLOUT : 0u) |
           (what & EV_ET ? EPOLLET : 0u);
}

/* A callback may stop sockets that are ready, and close them; then their structs may be those of
 * others. */
static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    const struct poller *p = arg;
    const int n = epoll_wait(fd, p->ready, POLLER_MOST_READY, 0);

    (void)what;
    if (n < 0 && errno != EINTR)
        worker_abort();
    for (int i = 0; i < n; i++)
        ((struct polled *)p->ready[i].data.ptr)->ready_index = (uint16_t)(i + 1);
    for (int i = 0; i < n && !event_base_got_break(p->base); i++) {
        struct polled *s = p->ready[i].data.ptr;
        int ready;

        if (s == NULL)
            continue;
        s->ready_index = 0;
        ready = what_of(p->ready[i].events) & s->what;
        if (ready != 0)
            s->callback(s, (short)ready);
    }
}

int poller_init(struct poller *p, struct event_base *base)
{
    p->base = base;
    p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll_fd < 0)
        return -1;
    p->ready = malloc(POLLER_MOST_READY * sizeof *p->ready);
    if (p->ready == NULL ||
        event_assign(&p->event, base, p->epoll_fd, EV_READ | EV_PERSIST, on_ready, p) != 0 ||
        event_add(&p->event, NULL) != 0) {
        free(p->ready);
        p->ready = NULL;
        close(p->epoll_fd);
        return -1;
    }
    return 0;
}

void poller_free(struct poller *p)
{
    if (p->ready == NULL)
        return;
    event_del(&p->event);
    close(p->epoll_fd);
    free(p->ready);
    p->ready = NULL;
}

/* --- timeouts --- */

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct polled *s = arg;

    (void)fd;
    poller_clear_timeout(s);
    s->callback(s, what);
}

static int new_timer(const struct poller *p, struct polled *s)
{
    s->timer = malloc(sizeof *s->timer);
    if (s->timer == NULL)
        return ENOMEM;
    return evtimer_assign(s->timer, p->base, on_timeout, s);
}

/* add: event_add() or worker_add_unreserved_timer(). */
static int set_timer(const struct poller *p, struct polled *s, const struct timeval *timeout,
                     int (*add)(struct event *, const struct timeval *))
{
    if (s->timer == NULL && new_timer(p, s) != 0)
        return ENOMEM;
    if (add(s->timer, timeout) == 0)
        return 0;
    poller_clear_timeout(s);
    return ENOMEM;
}

int poller_set_timeout(struct poller *p, struct polled *s, const struct timeval *timeout)
{
    if (timeout != NULL)
        return set_timer(p, s, timeout, event_add);
    poller_clear_timeout(s);
    return 0;
}

int poller_set_own_timeout(struct poller *p, struct polled *s, const struct timeval *timeout)
{
    return set_timer(p, s, timeout, worker_add_unreserved_timer);
}

void poller_clear_timeout(struct polled *s)
{
    if (s->timer == NULL)
        return;
    event_del(s->timer);
    free(s->timer);
    s->timer = NULL;
}

/* --- sockets --- */

/* Returns 0 or an errno. */
static int control(const struct poller *p, struct polled *s, int operation, short what)
{
    struct epoll_event event = {.events = events_of(what), .data.ptr = s};

    if (epoll_ctl(p->epoll_fd, operation, s->fd, &event) != 0)
        return errno;
    s->what = (uint16_t)what;
    return 0;
}

int poller_watch(struct poller *p, struct polled *s, int fd, short what, poller_callback *callback,
                 const struct timeval *timeout)
{
    int error;

    s->callback = callback;
    if (s->what != 0) {
        error = s->what == what && (what & EV_ET) == 0 ? 0 : poller_change(p, s, what);
    } else {
        s->fd = fd;
        error = control(p, s, EPOLL_CTL_ADD, what);
    }
    if (error == 0)
        error = poller_set_timeout(p, s, timeout);
    if (error != 0)
        poller_stop(p, s);
    return error;
}

int poller_change(struct poller *p, struct polled *s, short what)
{
    return control(p, s, EPOLL_CTL_MOD, what);
}

void poller_stop(struct poller *p, struct polled *s)
{
    poller_clear_timeout(s);
    if (s->ready_index != 0)
        p->ready[s->ready_index - 1].data.ptr = NULL;
    s->ready_index = 0;
    if (s->what != 0)
        (void)epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
    s->what = 0;
}
