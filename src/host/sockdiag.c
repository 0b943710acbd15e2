/* SPDX-License-Identifier: MIT
 * sockdiag: see host/sockdiag.h. */
#include "host/sockdiag.h"

#include "host/watch/inet_sockets.h"
#include "net/sock.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

struct ports {
    void (*on_port)(void *context, uint16_t port);
    void *context;
};

static void on_port_of(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    const struct ports *ports = context;

    (void)n_bytes;
    ports->on_port(ports->context, ntohs(socket->id.idiag_sport));
}

int sockdiag_listeners(void (*on_port)(void *context, uint16_t port), void *context)
{
    const struct inet_sockets which = {.states = 1u << TCP_LISTEN};
    struct ports ports = {on_port, context};

    return inet_sockets_each(&which, on_port_of, &ports);
}

struct udp_ports {
    bool of_any;
    struct ports ports;
};

static bool is_bound_to_all(const struct inet_diag_msg *socket)
{
    static const uint32_t all[4];

    return memcmp(socket->id.idiag_src, all, socket->idiag_family == AF_INET ? 4 : 16) == 0;
}

static void on_udp_socket(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    struct udp_ports *udp = context;

    if (udp->of_any || is_bound_to_all(socket))
        on_port_of(&udp->ports, socket, n_bytes);
}

int sockdiag_udp_ports(bool of_any, void (*on_port)(void *context, uint16_t port), void *context)
{
    const struct inet_sockets which = {.udp = true, .states = UINT32_MAX};
    struct udp_ports udp = {of_any, {on_port, context}};

    return inet_sockets_each(&which, on_udp_socket, &udp);
}

/* Returns one of a socket's two addresses as one of a family, which may be IPv4 on a socket of IPv6
 * (::ffff:192.0.2.1, ipv6(7)); NULL: it is of another family. */
static const void *address_of(const struct inet_diag_msg *socket, const uint32_t address[4],
                              sa_family_t family)
{
    if (socket->idiag_family == family)
        return &address[0];
    return family == AF_INET && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address) ? &address[3]
                                                                                       : NULL;
}

/* Of the sockets that may have an address of a family. */
static uint8_t families_with(sa_family_t family)
{
    return family == AF_INET ? AF_UNSPEC : (uint8_t)family;
}

struct census {
    const struct sock_address *peer;
    struct sockdiag_states *states;
};

static bool is_towards(const struct inet_diag_msg *socket, const struct sock_address *peer)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&peer->ss;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&peer->ss;

    const void *to = address_of(socket, socket->id.idiag_dst, peer->ss.ss_family);

    if (to == NULL || ntohs(socket->id.idiag_dport) != sock_port(peer))
        return false;
    return peer->ss.ss_family == AF_INET ? memcmp(to, &in->sin_addr, sizeof in->sin_addr) == 0
                                         : memcmp(to, &in6->sin6_addr, sizeof in6->sin6_addr) == 0;
}

static void on_closing(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    struct census *census = context;
    struct sockdiag_states *states = census->states;

    (void)n_bytes;
    if (!is_towards(socket, census->peer))
        return;
    switch (socket->idiag_state) {
    case TCP_SYN_SENT:
        states->syn_sent++;
        break;
    case TCP_FIN_WAIT1:
    case TCP_FIN_WAIT2:
        states->fin_wait++;
        break;
    case TCP_TIME_WAIT:
        states->time_wait++;
        break;
    case TCP_CLOSE_WAIT:
        states->close_wait++;
        break;
    default:
        states->other++;
        break;
    }
}

int sockdiag_count(const struct sock_address *peer, struct sockdiag_states *states)
{
    const struct inet_sockets which = {
        .family = families_with(peer->ss.ss_family),
        .states = ~(1u << TCP_ESTABLISHED | 1u << TCP_LISTEN),
        .peer_port = sock_port(peer),
    };
    struct census census = {peer, states};

    *states = (struct sockdiag_states){0};
    return inet_sockets_each(&which, on_closing, &census);
}

/* Leaves out sockets that this end has closed: they end soon, or their tuples can be reused as in
 * TIME_WAIT. */
#define OPEN_STATES (1u << TCP_ESTABLISHED | 1u << TCP_SYN_SENT | 1u << TCP_CLOSE_WAIT)

struct tuple_census {
    sa_family_t family;
    const struct sock_address *peer; /* NULL: any */
    bool (*is_counted)(const void *context, const struct srcplan_tuple *source);
    const void *context;
    struct sockdiag_tuples *tuples;
};

static void on_tuple(void *context, const struct inet_diag_msg *socket, size_t n_bytes)
{
    const struct tuple_census *t = context;
    const void *from = address_of(socket, socket->id.idiag_src, t->family);
    struct srcplan_tuple source = {.address.family = t->family,
                                   .port = ntohs(socket->id.idiag_sport)};

    (void)n_bytes;
    if (from == NULL)
        return;
    memcpy(source.address.bytes, from, t->family == AF_INET ? 4 : 16);
    if ((t->peer != NULL && !is_towards(socket, t->peer)) || !t->is_counted(t->context, &source))
        return;
    if (socket->idiag_state != TCP_TIME_WAIT) {
        t->tuples->n_open++;
        return;
    }
    t->tuples->n_time_wait++;
    if (socket->idiag_expires > t->tuples->ends_ms)
        t->tuples->ends_ms = socket->idiag_expires;
}

int sockdiag_tuples(const struct sock_address *peer, bool with_open,
                    bool (*is_counted)(const void *context, const struct srcplan_tuple *source),
                    const void *context, struct sockdiag_tuples *tuples)
{
    const struct inet_sockets which = {
        .family = families_with(peer->ss.ss_family),
        .states = 1u << TCP_TIME_WAIT | (with_open ? OPEN_STATES : 0),
        .peer_port = sock_port(peer),
    };
    struct tuple_census census = {peer->ss.ss_family, peer, is_counted, context, tuples};

    *tuples = (struct sockdiag_tuples){0};
    return inet_sockets_each(&which, on_tuple, &census);
}

int sockdiag_udp_tuples(sa_family_t family,
                        bool (*is_counted)(const void *context, const struct srcplan_tuple *source),
                        const void *context, struct sockdiag_tuples *tuples)
{
    const struct inet_sockets which = {
        .udp = true, .family = families_with(family), .states = UINT32_MAX};
    struct tuple_census census = {family, NULL, is_counted, context, tuples};

    *tuples = (struct sockdiag_tuples){0};
    return inet_sockets_each(&which, on_tuple, &census);
}
