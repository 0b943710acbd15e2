/* SPDX-License-Identifier: MIT
 * progress: see progress.h. */
#include "progress.h"

#include "client.h"
#include "descriptor.h"
#include "net/tls.h"
#include "violation.h"
#include "world.h"

#include <string.h>
#include <sys/epoll.h>

enum { N_LISTENERS = 64 };

/* State of a listener's queue. */
struct waiting {
    uint64_t first, since_ns;
};

static struct waiting first_waiting[N_LISTENERS]; /* listeners have the first slots */

void progress_begin(void)
{
    memset(first_waiting, 0, sizeof first_waiting);
}

/* Whether the server has something to do for it. */
static bool is_ready(const struct client *c, const struct tcp *t)
{
    const bool is_writable = (tcp_ready((uint32_t)(t - tcp_at(0))) & EPOLLOUT) != 0;

    if (c->answered < c->expected)
        return is_writable;
    /* perhaps it holds the rest of a message, or of a record */
    if ((clients_push() || clients_use_tls()) && !is_writable)
        return false;
    return t->tls.status == TLS_CLOSED || t->visible > t->head || t->fin || t->state == TCP_BROKEN;
}

static void check_connection(uint32_t i, uint64_t most_ns)
{
    const struct tcp *t = tcp_at(i);
    struct client *c = client_of(t);
    const uint64_t idle_since_ns = t->last.at_ns != 0 ? t->last.at_ns : c->accepted_ns;

    if (!c->is_open)
        return;
    LAW(c->is_served || world.now_ns < c->accepted_ns + clients.config->header_timeout_ns + most_ns,
        "client %u: its PROXY header is awaited for too long", t->peer.client);
    LAW(!c->is_served || clients.config->idle_timeout_ns == 0 ||
            world.now_ns < idle_since_ns + clients.config->idle_timeout_ns + most_ns,
        "client %u: idle for too long", t->peer.client);
    if (!is_ready(c, t)) {
        c->ready_ns = 0;
        return;
    }
    if (c->ready_ns == 0 || c->ready_ns < idle_since_ns)
        c->ready_ns = world.now_ns;
    LAW(world.now_ns < c->ready_ns + most_ns, "client %u: the server does not care",
        t->peer.client);
}

/* The first of a queue is accepted or refused. */
static void check_queue(uint32_t listener, uint64_t most_ns)
{
    const struct tcp_queue *q = &tcp_at(listener)->queue;
    struct waiting *w = &first_waiting[listener % N_LISTENERS];

    if (q->n == 0 || w->first != tcp_name(q->first, tcp_at(q->first))) {
        w->first = q->n > 0 ? tcp_name(q->first, tcp_at(q->first)) : 0;
        w->since_ns = world.now_ns;
    }
    LAW(world.now_ns < w->since_ns + most_ns, "nobody accepts: %u wait", q->n);
}

void progress_check(uint64_t most_ns, bool accepts)
{
    for (int fd = DESCRIPTOR_FIRST; fd < DESCRIPTOR_FIRST + (int)descriptor_n_used(); fd++) {
        const struct descriptor *d = descriptor_of(fd);

        if (d == NULL || d->kind != DESCRIPTOR_SOCKET)
            continue;
        if (tcp_at(d->tcp)->state != TCP_LISTENING)
            check_connection(d->tcp, most_ns);
        else if (accepts)
            check_queue(d->tcp, most_ns);
        else
            first_waiting[d->tcp % N_LISTENERS].first = 0;
    }
}
