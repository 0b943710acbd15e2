/* SPDX-License-Identifier: MIT
 * readiness: see readiness.h. */
#include "readiness.h"

#include "descriptor.h"
#include "fiber.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <stddef.h>

/* An epoll, or a semaphore, that is in an epoll. */
struct nest {
    int outer, inner;
    epoll_data_t data;
};

static struct nest nests[FIBER_MOST];
static uint32_t n_nests;

void readiness_begin(void)
{
    n_nests = 0;
}

/* --- the list of what may be ready --- */

static void unlist(int fd)
{
    struct descriptor *d = descriptor_of(fd), *epoll = descriptor_of(d->watcher);

    if (!d->listed)
        return;
    d->listed = false;
    if (d->previous >= 0)
        descriptor_of(d->previous)->next = d->next;
    else
        epoll->head = d->next;
    if (d->next >= 0)
        descriptor_of(d->next)->previous = d->previous;
    else
        epoll->tail = d->previous;
}

static void list(int fd)
{
    struct descriptor *d = descriptor_of(fd), *epoll = descriptor_of(d->watcher);

    if (d->listed)
        return;
    d->listed = true;
    d->previous = epoll->tail;
    d->next = -1;
    if (epoll->tail >= 0)
        descriptor_of(epoll->tail)->next = fd;
    else
        epoll->head = fd;
    epoll->tail = fd;
}

static uint32_t wanted(const struct descriptor *d)
{
    return readiness_of(d) & (d->interest | EPOLLERR | EPOLLHUP);
}

uint32_t readiness_of(const struct descriptor *d)
{
    switch ((enum descriptor_kind)d->kind) {
    case DESCRIPTOR_SOCKET:
        return tcp_ready(d->tcp);
    case DESCRIPTOR_EVENT:
    case DESCRIPTOR_SEMAPHORE:
        return d->count > 0 ? EPOLLIN | EPOLLOUT : EPOLLOUT;
    case DESCRIPTOR_TIMER:
        return d->expired ? EPOLLIN : 0;
    default:
        return 0;
    }
}

static void wake_nests_of(int inner);

static void wake(int epoll_fd)
{
    if (descriptor_of(epoll_fd)->sleeper >= 0)
        fiber_wake(descriptor_of(epoll_fd)->sleeper);
    wake_nests_of(epoll_fd);
}

static void wake_nests_of(int inner)
{
    for (uint32_t i = 0; i < n_nests; i++)
        if (nests[i].inner == inner)
            wake(nests[i].outer);
}

void readiness_changed(int fd)
{
    struct descriptor *d = descriptor_of(fd);

    if (d != NULL && d->kind == DESCRIPTOR_SEMAPHORE && d->count > 0)
        wake_nests_of(fd);
    if (d == NULL || d->watcher < 0 || wanted(d) == 0)
        return;
    list(fd);
    wake(d->watcher);
}

/* If one of the pair is -1, it stands for all that have the other. */
static void drop_nests(int outer, int inner)
{
    for (uint32_t i = n_nests; i-- > 0;)
        if ((outer < 0 || nests[i].outer == outer) && (inner < 0 || nests[i].inner == inner))
            nests[i] = nests[--n_nests];
}

/* --- epoll --- */

static int nest(int outer, int operation, int inner, const struct epoll_event *event)
{
    const uint32_t before = n_nests;

    drop_nests(outer, inner);
    if (operation == EPOLL_CTL_DEL)
        return n_nests < before ? 0 : ENOENT;
    for (uint32_t i = 0; i < n_nests && descriptor_of(inner)->kind == DESCRIPTOR_EPOLL; i++)
        LAW(nests[i].inner != inner, "two threads wait for the same connections");
    LAW(n_nests < FIBER_MOST, "too many nested epolls");
    nests[n_nests++] = (struct nest){outer, inner, event->data};
    if (descriptor_of(inner)->kind == DESCRIPTOR_SEMAPHORE)
        readiness_changed(inner);
    return 0;
}

int readiness_watch(int epoll_fd, int operation, int fd, const struct epoll_event *event)
{
    struct descriptor *d = descriptor_of(fd);

    if (d == NULL || !descriptor_is_in_table(fd))
        return EBADF;
    if (d->kind == DESCRIPTOR_EPOLL || d->kind == DESCRIPTOR_SEMAPHORE)
        return nest(epoll_fd, operation, fd, event);
    if (operation == EPOLL_CTL_ADD && d->watcher == epoll_fd)
        return EEXIST;
    if (operation != EPOLL_CTL_ADD && d->watcher != epoll_fd)
        return ENOENT;
    LAW(operation != EPOLL_CTL_ADD || d->watcher < 0, "fd %d: watched by two", fd);
    if (operation == EPOLL_CTL_DEL) {
        unlist(fd);
        d->watcher = -1;
        return 0;
    }
    LAW((event->events & ~(EPOLLIN | EPOLLOUT | EPOLLRDHUP | (uint32_t)EPOLLET)) == 0,
        "fd %d: not simulated: epoll events %x", fd, event->events);
    d->watcher = epoll_fd;
    d->interest = event->events;
    d->data = event->data;
    readiness_changed(fd);
    return 0;
}

static void shuffle(struct epoll_event *events, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int other = (int)world_up_to((uint64_t)i);
        const struct epoll_event e = events[i];

        events[i] = events[other];
        events[other] = e;
    }
}

static bool is_nest_ready(int inner)
{
    if (descriptor_of(inner)->kind == DESCRIPTOR_SEMAPHORE)
        return descriptor_of(inner)->count > 0;
    for (int fd = descriptor_of(inner)->head; fd >= 0; fd = descriptor_of(fd)->next)
        if (wanted(descriptor_of(fd)) != 0)
            return true;
    return false;
}

/* Moves a reported descriptor to the end of the list, as the kernel does. */
int readiness_take(int epoll_fd, struct epoll_event *events, int most)
{
    const struct descriptor *epoll = descriptor_of(epoll_fd);
    const int last = epoll->tail;
    int n = 0, fd = epoll->head;
    bool more = fd >= 0;

    while (more && n < most) {
        const int next = descriptor_of(fd)->next;
        const uint32_t ready = wanted(descriptor_of(fd));

        more = fd != last && next >= 0;
        unlist(fd);
        if (ready != 0) {
            events[n++] = (struct epoll_event){.events = ready, .data = descriptor_of(fd)->data};
            world_trace("ready", fd, ready, epoll_fd);
            if ((descriptor_of(fd)->interest & EPOLLET) == 0)
                list(fd);
        }
        fd = next;
    }
    for (uint32_t i = 0; i < n_nests && n < most; i++)
        if (nests[i].outer == epoll_fd && is_nest_ready(nests[i].inner))
            events[n++] = (struct epoll_event){.events = EPOLLIN, .data = nests[i].data};
    if (world.scenario.shuffle)
        shuffle(events, n);
    return n;
}

/* --- closing --- */

static void watch_none(int epoll_fd)
{
    for (int fd = DESCRIPTOR_FIRST; fd < DESCRIPTOR_FIRST + (int)descriptor_n_used(); fd++) {
        struct descriptor *d = descriptor_of(fd);

        if (d != NULL && d->watcher == epoll_fd) {
            d->watcher = -1;
            d->listed = false;
        }
    }
}

void readiness_forget(int fd)
{
    struct descriptor *d = descriptor_of(fd);

    if (d->kind == DESCRIPTOR_EPOLL || d->kind == DESCRIPTOR_SEMAPHORE)
        drop_nests(-1, fd);
    if (d->kind == DESCRIPTOR_EPOLL) {
        drop_nests(fd, -1);
        watch_none(fd);
    }
    if (d->watcher >= 0)
        unlist(fd);
    d->watcher = -1;
}
