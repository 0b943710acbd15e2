/* SPDX-License-Identifier: MIT
 * ports: see ports.h.  The product may bind each planned tuple once at a time; two sockets of one
 * tuple are a violation unless bind(2) has refused the second. */
#include "ports.h"

#include "memory.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <string.h>

/* Automatic ports; after the last one, all are used again. */
enum { FIRST_PORT = 32768, LAST_PORT = 60999 };

/* Planned tuples in use: a set with open addressing; 0: none. */
static uint64_t *set;
static uint32_t size, n_in_set;
static uint16_t next_port;

void ports_begin(void)
{
    next_port = FIRST_PORT;
    n_in_set = 0;
    if (set != NULL)
        memset(set, 0, size * sizeof *set);
}

static uint32_t home(uint64_t tuple)
{
    return (uint32_t)(world_mix(tuple, 3) >> 32) & (size - 1);
}

static uint32_t position(uint64_t tuple)
{
    uint32_t at = home(tuple);

    while (set[at] != 0 && set[at] != tuple)
        at = (at + 1) & (size - 1);
    return at;
}

static void grow(void)
{
    const uint32_t before = size;
    uint64_t *old = set;

    size = size > 0 ? 2 * size : 256;
    set = memory_own(NULL, size * sizeof *set);
    memset(set, 0, size * sizeof *set);
    for (uint32_t i = 0; i < before; i++)
        if (old[i] != 0)
            set[position(old[i])] = old[i];
    memory_disown(old);
}

static uint64_t tuple_of(const struct tcp *t)
{
    return (uint64_t)t->address << 16 | t->port;
}

int ports_bind(struct tcp *t, uint32_t address, uint16_t port)
{
    LAW(t->port == 0 && t->state == TCP_NEW, "fd %d: bound twice", t->fd);
    t->address = address != 0 ? address : PORTS_OWN_ADDRESS;
    if (port == 0)
        return 0;
    if (2 * (n_in_set + 1) > size)
        grow();
    t->port = port;
    if (set[position(tuple_of(t))] != 0) {
        t->port = 0;
        return EADDRINUSE;
    }
    set[position(tuple_of(t))] = tuple_of(t);
    n_in_set++;
    t->is_planned = true;
    return 0;
}

int ports_choose(struct tcp *t)
{
    if (t->port != 0)
        return 0;
    if (t->address == 0)
        t->address = PORTS_OWN_ADDRESS;
    t->port = next_port;
    next_port = next_port < LAST_PORT ? (uint16_t)(next_port + 1) : FIRST_PORT;
    return 0;
}

void ports_release(const struct tcp *t)
{
    uint32_t at, next;

    if (!t->is_planned)
        return;
    at = next = position(tuple_of(t));
    for (;;) { /* entries after it that could not take this slot move up */
        next = (next + 1) & (size - 1);
        if (set[next] == 0)
            break;
        if (((next - home(set[next])) & (size - 1)) < ((next - at) & (size - 1)))
            continue;
        set[at] = set[next];
        at = next;
    }
    set[at] = 0;
    n_in_set--;
}
