/* SPDX-License-Identifier: MIT
 * descriptor: see descriptor.h. */
#include "descriptor.h"

#include "fiber.h"
#include "ledger.h"
#include "memory.h"
#include "ports.h"
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
static int table_of[FIBER_MOST]; /* 0: that of fiber 0 */
static uint32_t n_in_table[FIBER_MOST];

/* An epoll, or a semaphore, that is in an epoll. */
struct nest {
    int outer, inner;
    epoll_data_t data;
};

static struct nest nests[FIBER_MOST];
static uint32_t n_nests;

void descriptor_begin(void)
{
    n_used = n_free = n_open = n_nests = 0;
    for (int i = 0; i < FIBER_MOST; i++)
        table_of[i] = (int)(n_in_table[i] = 0);
}

uint32_t descriptor_n_open(void)
{
    return n_open;
}

uint32_t descriptor_n_used(void)
{
    return n_used;
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

static int table(void)
{
    return table_of[fiber_current()];
}

bool descriptor_is_full(void)
{
    const uint64_t limit = world.scenario.fd_limit;

    return limit > 0 && n_in_table[table()] >= limit;
}

uint64_t descriptor_room(void)
{
    uint64_t room_of_all = 0;

    for (int i = 1; i < FIBER_MOST; i++)
        if (table_of[i] == i && n_in_table[i] < world.scenario.fd_limit)
            room_of_all += world.scenario.fd_limit - n_in_table[i];
    return room_of_all;
}

int descriptor_new(enum descriptor_kind kind)
{
    struct descriptor *d;
    int fd;

    /* without a pipe libevent ends the process */
    if (descriptor_is_full() && kind != DESCRIPTOR_PIPE) {
        errno = EMFILE;
        return -1;
    }
    fd = take_number();
    d = at(fd);
    *d = (struct descriptor){.kind = (uint8_t)kind,
                             .watcher = -1,
                             .previous = -1,
                             .next = -1,
                             .serial = d->serial + 1,
                             .tables = 1ull << table(),
                             .creator = table()};
    n_in_table[table()]++;
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
    if (at(epoll_fd)->sleeper >= 0)
        fiber_wake(at(epoll_fd)->sleeper);
    wake_nests_of(epoll_fd);
}

static void wake_nests_of(int inner)
{
    for (uint32_t i = 0; i < n_nests; i++)
        if (nests[i].inner == inner)
            wake(nests[i].outer);
}

void descriptor_changed(int fd)
{
    struct descriptor *d = fd >= 0 ? at(fd) : NULL;

    if (d != NULL && d->kind == DESCRIPTOR_SEMAPHORE && d->count > 0)
        wake_nests_of(fd);
    if (d == NULL || d->watcher < 0 || wanted(d) == 0)
        return;
    list(fd);
    wake(d->watcher);
}

/* A pair of which one is -1: all with the other. */
static void drop_nests(int outer, int inner)
{
    for (uint32_t i = n_nests; i-- > 0;)
        if ((outer < 0 || nests[i].outer == outer) && (inner < 0 || nests[i].inner == inner))
            nests[i] = nests[--n_nests];
}

static void close_socket(const struct descriptor *d)
{
    ledger_on_close(d->tcp);
    ports_release(tcp_at(d->tcp));
    tcp_close(d->tcp);
}

void descriptor_close(int fd)
{
    struct descriptor *d = at(fd);

    LAW((d->tables & 1ull << table()) != 0, "close(%d): not in this thread's table", fd);
    d->tables &= ~(1ull << table());
    n_in_table[table()]--;
    if (d->tables != 0)
        return;
    if (d->kind == DESCRIPTOR_SOCKET)
        close_socket(d);
    if (d->kind == DESCRIPTOR_EPOLL)
        drop_nests(fd, -1);
    if (d->kind == DESCRIPTOR_EPOLL || d->kind == DESCRIPTOR_SEMAPHORE)
        drop_nests(-1, fd);
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

/* --- tables --- */

void descriptor_unshare(void)
{
    const int own = fiber_current();

    LAW(table() == 0, "a thread has two tables");
    for (uint32_t i = 0; i < n_used; i++)
        if (all[i].kind != DESCRIPTOR_FREE && (all[i].tables & 1) != 0)
            all[i].tables |= 1ull << own;
    n_in_table[own] = n_in_table[0];
    table_of[own] = own;
}

void descriptor_close_range(int first, int last)
{
    for (uint32_t i = 0; i < n_used; i++) {
        const int fd = DESCRIPTOR_FIRST + (int)i;

        if (fd >= first && fd <= last && all[i].kind != DESCRIPTOR_FREE &&
            (all[i].tables & 1ull << table()) != 0)
            descriptor_close(fd);
    }
}

void descriptor_drop_table(void)
{
    if (table() == 0)
        return;
    for (uint32_t i = 0; i < n_used; i++) {
        const int fd = DESCRIPTOR_FIRST + (int)i;

        if (all[i].kind == DESCRIPTOR_FREE || (all[i].tables & 1ull << table()) == 0)
            continue;
        LAW(all[i].creator != table(), "a thread has left fd %d open", fd);
        descriptor_close(fd);
    }
    table_of[fiber_current()] = 0;
}

/* --- epoll --- */

static int nest(int outer, int operation, int inner, const struct epoll_event *event)
{
    const uint32_t before = n_nests;

    drop_nests(outer, inner);
    if (operation == EPOLL_CTL_DEL)
        return n_nests < before ? 0 : ENOENT;
    for (uint32_t i = 0; i < n_nests && at(inner)->kind == DESCRIPTOR_EPOLL; i++)
        LAW(nests[i].inner != inner, "two threads wait for the same connections");
    LAW(n_nests < FIBER_MOST, "too many nested epolls");
    nests[n_nests++] = (struct nest){outer, inner, event->data};
    if (at(inner)->kind == DESCRIPTOR_SEMAPHORE)
        descriptor_changed(inner);
    return 0;
}

int descriptor_watch(int epoll_fd, int operation, int fd, const struct epoll_event *event)
{
    struct descriptor *d = descriptor_of(fd);

    if (d == NULL || (d->tables & 1ull << table()) == 0)
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

static bool is_nest_ready(int inner)
{
    if (at(inner)->kind == DESCRIPTOR_SEMAPHORE)
        return at(inner)->count > 0;
    for (int fd = at(inner)->head; fd >= 0; fd = at(fd)->next)
        if (wanted(at(fd)) != 0)
            return true;
    return false;
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
    for (uint32_t i = 0; i < n_nests && n < most; i++)
        if (nests[i].outer == epoll_fd && is_nest_ready(nests[i].inner))
            events[n++] = (struct epoll_event){.events = EPOLLIN, .data = nests[i].data};
    if (world.scenario.shuffle)
        shuffle(events, n);
    return n;
}
