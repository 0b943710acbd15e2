/* SPDX-License-Identifier: MIT
 * descriptor: see descriptor.h. */
#include "descriptor.h"

#include "fiber.h"
#include "ledger.h"
#include "memory.h"
#include "ports.h"
#include "readiness.h"
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

void descriptor_begin(void)
{
    n_used = n_free = n_open = 0;
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

bool descriptor_is_in_table(int fd)
{
    return (at(fd)->tables & 1ull << table()) != 0;
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

static void close_socket(const struct descriptor *d)
{
    ledger_on_close(d->tcp);
    ports_release(tcp_at(d->tcp));
    tcp_close(d->tcp);
}

void descriptor_close(int fd)
{
    struct descriptor *d = at(fd);

    LAW(descriptor_is_in_table(fd), "close(%d): not in this thread's table", fd);
    d->tables &= ~(1ull << table());
    n_in_table[table()]--;
    if (d->tables != 0)
        return;
    if (d->kind == DESCRIPTOR_SOCKET)
        close_socket(d);
    readiness_forget(fd);
    d->kind = DESCRIPTOR_FREE;
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
            descriptor_is_in_table(fd))
            descriptor_close(fd);
    }
}

void descriptor_drop_table(void)
{
    if (table() == 0)
        return;
    for (uint32_t i = 0; i < n_used; i++) {
        const int fd = DESCRIPTOR_FIRST + (int)i;

        if (all[i].kind == DESCRIPTOR_FREE || !descriptor_is_in_table(fd))
            continue;
        LAW(all[i].creator != table(), "a thread has left fd %d open", fd);
        descriptor_close(fd);
    }
    table_of[fiber_current()] = 0;
}
