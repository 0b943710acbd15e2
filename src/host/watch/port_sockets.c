/* SPDX-License-Identifier: MIT
 * port_sockets: see host/watch/port_sockets.h. */
#include "host/watch/port_sockets.h"

#include "host/watch/inet_sockets.h"

#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>

/* SK_MEMINFO_* of a socket; 0 where the kernel has fewer. */
struct meminfo_values {
    uint32_t at[SK_MEMINFO_VARS];
};

static struct meminfo_values meminfo_values(const struct inet_diag_msg *socket, size_t n_bytes)
{
    const struct rtattr *attribute = (const struct rtattr *)(socket + 1);
    struct meminfo_values values = {{0}};

    for (size_t left = n_bytes - sizeof *socket; RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == INET_DIAG_SKMEMINFO)
            memcpy(values.at, RTA_DATA(attribute),
                   RTA_PAYLOAD(attribute) < sizeof values ? RTA_PAYLOAD(attribute) : sizeof values);
    return values;
}

static uint64_t buffer_bytes(const struct inet_diag_msg *socket, size_t n_bytes)
{
    static const int parts[] = {SK_MEMINFO_RMEM_ALLOC, SK_MEMINFO_WMEM_QUEUED, SK_MEMINFO_FWD_ALLOC,
                                SK_MEMINFO_OPTMEM, SK_MEMINFO_BACKLOG};
    const struct meminfo_values values = meminfo_values(socket, n_bytes);
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum += values.at[parts[i]];
    return sum;
}

static uint64_t *count_of(struct port_sockets *s, uint8_t state)
{
    switch (state) {
    case TCP_ESTABLISHED:
        return &s->established;
    case TCP_SYN_RECV:
        return &s->syn_received;
    case TCP_FIN_WAIT1:
    case TCP_FIN_WAIT2:
        return &s->fin_wait;
    case TCP_TIME_WAIT:
        return &s->time_wait;
    case TCP_CLOSE_WAIT:
        return &s->close_wait;
    default:
        return &s->other;
    }
}

static void on_socket(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    struct port_sockets *s = context;

    ++*count_of(s, socket->idiag_state);
    s->buffer_bytes += buffer_bytes(socket, n_bytes);
}

int port_sockets_read(struct port_sockets *s, uint16_t port)
{
    const struct inet_sockets which = {
        .states = ~(1u << TCP_LISTEN),
        .own_port = port,
        .extensions = 1u << (INET_DIAG_SKMEMINFO - 1),
    };

    *s = (struct port_sockets){0};
    return inet_sockets_each(&which, on_socket, s);
}

/* A listener's "receive queue" is the number of waiting connections, its "send queue" the backlog.
 */
static void on_listener(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    struct port_listeners *l = context;

    l->drops += meminfo_values(socket, n_bytes).at[SK_MEMINFO_DROPS];
    if (socket->idiag_rqueue > l->queue)
        l->queue = socket->idiag_rqueue;
    if (l->n++ == 0 || socket->idiag_wqueue < l->backlog)
        l->backlog = socket->idiag_wqueue;
}

int port_listeners_read(struct port_listeners *l, uint16_t port)
{
    const struct inet_sockets which = {
        .states = 1u << TCP_LISTEN,
        .own_port = port,
        .extensions = 1u << (INET_DIAG_SKMEMINFO - 1),
    };

    *l = (struct port_listeners){0};
    return inet_sockets_each(&which, on_listener, l);
}
