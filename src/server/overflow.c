/* SPDX-License-Identifier: MIT
 * server_overflow: see server/overflow.h. */
#include "server/overflow.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int server_overflow_open(struct server_overflow *o, bool is_used, bool may_grow)
{
    atomic_init(&o->n_helpers, 0);
    atomic_init(&o->may_grow, is_used && may_grow);
    o->set_fd = o->turn_fd = o->wanted_fd = -1;
    if (!is_used)
        return 0;
    o->set_fd = epoll_create1(EPOLL_CLOEXEC);
    o->turn_fd = eventfd(1, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
    o->wanted_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return o->set_fd >= 0 && o->turn_fd >= 0 && o->wanted_fd >= 0 ? 0 : -1;
}

void server_overflow_close(struct server_overflow *o)
{
    if (o->set_fd >= 0)
        close(o->set_fd);
    if (o->turn_fd >= 0)
        close(o->turn_fd);
    if (o->wanted_fd >= 0)
        close(o->wanted_fd);
    o->set_fd = o->turn_fd = o->wanted_fd = -1;
}

/* --- workers --- */

void server_overflow_enter(struct server_overflow *o)
{
    atomic_fetch_add(&o->n_helpers, 1);
}

void server_overflow_leave(struct server_overflow *o)
{
    atomic_fetch_sub(&o->n_helpers, 1);
}

bool server_overflow_take_turn(const struct server_overflow *o)
{
    uint64_t turn;

    return read(o->turn_fd, &turn, sizeof turn) == sizeof turn;
}

void server_overflow_pass_turn(const struct server_overflow *o)
{
    const uint64_t turn = 1;
    const ssize_t n = write(o->turn_fd, &turn, sizeof turn);

    assert(n == sizeof turn); /* there is only one turn, so the counter is never full */
    (void)n;
}

/* Offering a listener twice is an error (EEXIST) without effect. */
void server_overflow_offer(const struct server_overflow *o, int listener_fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener_fd};

    if (listener_fd >= 0)
        (void)epoll_ctl(o->set_fd, EPOLL_CTL_ADD, listener_fd, &event);
}

void server_overflow_withdraw(const struct server_overflow *o, int listener_fd)
{
    if (listener_fd >= 0)
        (void)epoll_ctl(o->set_fd, EPOLL_CTL_DEL, listener_fd, NULL);
}

/* Takes one event at a time: the kernel then moves it behind the other ready ones. */
int server_overflow_next(const struct server_overflow *o)
{
    struct epoll_event event;

    return epoll_wait(o->set_fd, &event, 1, 0) == 1 ? event.data.fd : -1;
}

bool server_overflow_call_helper(struct server_overflow *o)
{
    const uint64_t one = 1;

    if (atomic_load(&o->n_helpers) > 0)
        return true;
    if (!atomic_load(&o->may_grow))
        return false;
    /* if the eventfd's counter is full, it is readable anyway */
    if (write(o->wanted_fd, &one, sizeof one) < 0)
        assert(errno == EAGAIN);
    return true;
}

/* --- main thread --- */

bool server_overflow_take_request(struct server_overflow *o)
{
    uint64_t n_requests;

    return read(o->wanted_fd, &n_requests, sizeof n_requests) == sizeof n_requests &&
           atomic_load(&o->n_helpers) == 0 && atomic_load(&o->may_grow);
}

void server_overflow_let_grow(struct server_overflow *o, bool may_grow)
{
    atomic_store(&o->may_grow, may_grow);
}
