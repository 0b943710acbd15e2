/* SPDX-License-Identifier: MIT
 * tcp_listen: listening sockets and their queues; see tcp.h. */
#include "readiness.h"
#include "tcp.h"

#include <errno.h>

#define NONE UINT32_MAX

void tcp_listen(uint32_t i, uint32_t most)
{
    struct tcp *t = tcp_at(i);

    t->state = TCP_LISTENING;
    t->queue = (struct tcp_queue){NONE, NONE, NONE, 0, most};
}

/* As in the kernel: one more than the backlog. */
int64_t tcp_arrive(uint32_t listener, uint32_t address, uint16_t port)
{
    struct tcp_queue *q = &tcp_at(listener)->queue;
    struct tcp *t;
    uint32_t i;

    if (q->n > q->most)
        return -1;
    i = tcp_new(-1);
    t = tcp_at(i);
    t->state = TCP_ESTABLISHED;
    t->address = address;
    t->port = port;
    t->queue.next = NONE;
    q = &tcp_at(listener)->queue; /* it may have moved */
    if (q->n++ == 0)
        q->first = i;
    else
        tcp_at(q->last)->queue.next = i;
    q->last = i;
    tcp_figures.n_established++;
    readiness_changed(tcp_at(listener)->fd);
    return i;
}

int64_t tcp_take_waiting(uint32_t listener)
{
    struct tcp_queue *q = &tcp_at(listener)->queue;
    const uint32_t i = q->first;

    if (q->n == 0)
        return -1;
    q->n--;
    q->first = tcp_at(i)->queue.next;
    return i;
}

int64_t tcp_accept(uint32_t listener, int fd)
{
    const int64_t i = tcp_take_waiting(listener);

    if (i < 0)
        return -EAGAIN;
    tcp_at((uint32_t)i)->fd = fd;
    return i;
}
