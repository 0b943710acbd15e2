/* SPDX-License-Identifier: MIT
 * descriptor: see descriptor.h. */
#include "descriptor.h"

#include "fiber.h"
#include "memory.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <stddef.h>

static struct descriptor *all;
static uint32_t n_used, room; /* numbers that have been used; those beyond are free */
static int *free_list;        /* of those used; the latest first */
static uint32_t n_free, free_room;
static uint32_t n_open;

void descriptor_begin(void)
{
    n_used = n_free = n_open = 0;
}

uint32_t descriptor_n_open(void)
{
    return n_open;
}

static struct descriptor *at(int fd)
{
    return &all[fd - DESCRIPTOR_FIRST];
}

struct descriptor *descriptor_of(int fd)
{
    if (fd < DESCRIPTOR_FIRST || (uint32_t)(fd - DESCRIPTOR_FIRST) >= n_used ||
        at(fd)->kind == DESCRIPTOR_FREE)
        return NULL;
    return at(fd);
}

static int take_number(void)
{
    if (n_free > 0)
        return free_list[--n_free];
    if (n_used == room) {
        room = room > 0 ? 2 * room : 256;
        all = memory_own(all, room * sizeof *all);
    }
    all[n_used].serial = 0;
    return DESCRIPTOR_FIRST + (int)n_used++;
}

int descriptor_new(enum descriptor_kind kind)
{
    const uint64_t limit = world.scenario.fd_limit;
    struct descriptor *d;
    int fd;

    /* libevent would do without epoll */
    if (limit > 0 && n_open >= limit && kind != DESCRIPTOR_EPOLL && kind != DESCRIPTOR_PIPE) {
        errno = EMFILE;
        return -1;
    }
    fd = take_number();
    d = at(fd);
    *d = (struct descriptor){
        .kind = (uint8_t)kind, .watcher = -1, .previous = -1, .next = -1, .serial = d->serial + 1};
    if (kind == DESCRIPTOR_EPOLL)
        d->head = d->tail = d->sleeper = -1;
    n_open++;
    return fd;
}

/* --- the list of what may be ready --- */

static void unlist(int fd)
{
    struct descriptor *d = at(fd), *epoll = at(d->watcher);

    if (!d->listed)
        return;
    d->listed = false;
    if (d->previous >= 0)
        at(d->previous)->next = d->next;
    else
        epoll->head = d->next;
    if (d->next >= 0)
        at(d->next)->previous = d->previous;
    else
        epoll->tail = d->previous;
}

static void list(int fd)
{
    struct descriptor *d = at(fd), *epoll = at(d->watcher);

    if (d->listed)
        return;
    d->listed = true;
    d->previous = epoll->tail;
    d->next = -1;
    if (epoll->tail >= 0)
        at(epoll->tail)->next = fd;
    else
        epoll->head = fd;
    epoll->tail = fd;
}

static uint32_t wanted(const struct descriptor *d)
{
    return descriptor_ready(d) & (d->interest | EPOLLERR | EPOLLHUP);
}

uint32_t descriptor_ready(const struct descriptor *d)
{
    switch ((enum descriptor_kind)d->kind) {
    case DESCRIPTOR_SOCKET:
        return tcp_ready(d->tcp);
    case DESCRIPTOR_LISTENER:
        return d->count > 0 ? EPOLLIN : 0;
    case DESCRIPTOR_EVENT:
        return d->count > 0 ? EPOLLIN | EPOLLOUT : EPOLLOUT;
    case DESCRIPTOR_TIMER:
        return d->expired ? EPOLLIN : 0;
    default:
        return 0;
    }
}

void descriptor_changed(int fd)
{
    struct descriptor *d = at(fd);

    if (d->watcher < 0 || wanted(d) == 0)
        return;
    list(fd);
    if (at(d->watcher)->sleeper >= 0)
        fiber_wake(at(d->watcher)->sleeper);
}

void descriptor_close(int fd)
{
    struct descriptor *d = at(fd);

    if (d->watcher >= 0)
        unlist(fd);
    if (d->kind == DESCRIPTOR_EPOLL)
        for (uint32_t i = 0; i < n_used; i++) {
            if (all[i].kind != DESCRIPTOR_FREE && all[i].watcher == fd)
                all[i].watcher = -1;
            if (all[i].watcher == -1)
                all[i].listed = false;
        }
    d->kind = DESCRIPTOR_FREE;
    d->watcher = -1;
    if (n_free == free_room) {
        free_room = free_room > 0 ? 2 * free_room : 256;
        free_list = memory_own(free_list, free_room * sizeof *free_list);
    }
    free_list[n_free++] = fd;
    n_open--;
}

/* --- epoll --- */

int descriptor_watch(int epoll_fd, int operation, int fd, const struct epoll_event *event)
{
    struct descriptor *d = descriptor_of(fd);

    if (d == NULL)
        return EBADF;
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
    LAW((event->events & (uint32_t) ~(EPOLLIN | EPOLLOUT | EPOLLRDHUP)) == 0,
        "fd %d: not simulated: epoll events %x", fd, event->events);
    d->watcher = epoll_fd;
    d->interest = event->events;
    d->data = event->data;
    descriptor_changed(fd);
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

/* What is reported goes to the end of the list, as in the kernel. */
int descriptor_take_ready(int epoll_fd, struct epoll_event *events, int most)
{
    const struct descriptor *epoll = at(epoll_fd);
    const int last = epoll->tail;
    int n = 0, fd = epoll->head;
    bool more = fd >= 0;

    while (more && n < most) {
        const int next = at(fd)->next;
        const uint32_t ready = wanted(at(fd));

        more = fd != last && next >= 0;
        unlist(fd);
        if (ready != 0) {
            events[n++] = (struct epoll_event){.events = ready, .data = at(fd)->data};
            world_trace("ready", fd, ready, at(fd)->data.fd);
            list(fd);
        }
        fd = next;
    }
    if (world.scenario.shuffle)
        shuffle(events, n);
    return n;
}
