/* SPDX-License-Identifier: MIT
 * refusal: see refusal.h. */
#include "refusal.h"

#include "descriptor.h"
#include "memory.h"
#include "tcp.h"
#include "violation.h"

#include <errno.h>

struct refusal {
    int epoll_fd;
    uint64_t tcp_name;
};

struct refusal_figures refusal_figures;

static struct refusal *all;
static uint32_t n, room;

void refusal_begin(void)
{
    n = 0;
    refusal_figures = (struct refusal_figures){0};
}

void refusal_add(int epoll_fd, uint32_t i, int error)
{
    *(error == ENOSPC ? &refusal_figures.n_limit : &refusal_figures.n_memory) += 1;
    if (n == room) {
        room = room > 0 ? 2 * room : 16;
        all = memory_own(all, room * sizeof *all);
    }
    all[n++] = (struct refusal){epoll_fd, tcp_name(i, tcp_at(i))};
}

void refusal_check(int epoll_fd)
{
    for (uint32_t k = n; k-- > 0;) {
        const struct tcp *t = tcp_named(all[k].tcp_name);

        if (all[k].epoll_fd != epoll_fd)
            continue;
        LAW(t == NULL || t->state == TCP_LISTENING || descriptor_of(t->fd)->watcher >= 0,
            "fd %d: a connection is kept, but no longer watched", t->fd);
        all[k] = all[--n];
    }
}
