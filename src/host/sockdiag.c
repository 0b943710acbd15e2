/* SPDX-License-Identifier: MIT
 * sockdiag: see host/sockdiag.h. */
#include "host/sockdiag.h"

#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 what;
};

/* Called for each socket of a response. */
typedef void on_socket_fn(void *context, const struct inet_diag_msg *socket);

/* peer_port 0: any. */
static int send_request(int fd, uint8_t family, uint32_t states, uint16_t peer_port)
{
    const struct request request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .what = {.sdiag_family = family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = states,
                 .id.idiag_dport = htons(peer_port)},
    };

    return send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request ? 0 : -1;
}

static int error_of(const struct nlmsghdr *header)
{
    const struct nlmsgerr *e = NLMSG_DATA(header);

    return e->error < 0 ? -e->error : EIO;
}

/* Reads one datagram of responses.  Returns 1 if more follow, 0 at the end, -1 with errno. */
static int read_responses(int fd, on_socket_fn *on_socket, void *context)
{
    _Alignas(struct nlmsghdr) char answers[32768];
    ssize_t n = recv(fd, answers, sizeof answers, 0);
    const struct nlmsghdr *header = (const struct nlmsghdr *)answers;

    if (n <= 0)
        return -1;
    for (unsigned left = (unsigned)n; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
        if (header->nlmsg_type == NLMSG_DONE)
            return 0;
        if (header->nlmsg_type == NLMSG_ERROR) {
            errno = error_of(header);
            return -1;
        }
        on_socket(context, NLMSG_DATA(header));
    }
    return 1;
}

/* Lists the sockets in one of the states (a bit each), of the n families, towards that port or, if
 * 0, any port.  Returns 0, or -1 with errno. */
static int list(const uint8_t *families, int n, uint32_t states, uint16_t peer_port,
                on_socket_fn *on_socket, void *context)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int more = 0, error;

    if (fd < 0)
        return -1;
    for (int i = 0; i < n && more == 0; i++) {
        more = send_request(fd, families[i], states, peer_port) == 0 ? 1 : -1;
        while (more == 1)
            more = read_responses(fd, on_socket, context);
    }
    error = errno;
    close(fd);
    errno = error;
    return more;
}

struct listeners {
    void (*on_port)(void *context, uint16_t port);
    void *context;
};

static void on_listener(void *context, const struct inet_diag_msg *socket)
{
    const struct listeners *listeners = context;

    listeners->on_port(listeners->context, ntohs(socket->id.idiag_sport));
}

int sockdiag_listeners(void (*on_port)(void *context, uint16_t port), void *context)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    struct listeners listeners = {on_port, context};

    return list(families, 2, 1u << TCP_LISTEN, 0, on_listener, &listeners);
}

struct census {
    const struct sock_address *peer;
    struct sockdiag_states *states;
};

static bool is_towards(const struct inet_diag_msg *socket, const struct sock_address *peer)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&peer->ss;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&peer->ss;

    if (ntohs(socket->id.idiag_dport) != sock_port(peer))
        return false;
    return peer->ss.ss_family == AF_INET
               ? memcmp(socket->id.idiag_dst, &in->sin_addr, sizeof in->sin_addr) == 0
               : memcmp(socket->id.idiag_dst, &in6->sin6_addr, sizeof in6->sin6_addr) == 0;
}

static void on_closing(void *context, const struct inet_diag_msg *socket)
{
    struct census *census = context;
    struct sockdiag_states *states = census->states;

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
    const uint8_t family = (uint8_t)peer->ss.ss_family;
    const uint32_t not_asked = 1u << TCP_ESTABLISHED | 1u << TCP_LISTEN;
    struct census census = {peer, states};

    *states = (struct sockdiag_states){0};
    return list(&family, 1, ~not_asked, sock_port(peer), on_closing, &census);
}

struct waiting {
    const struct sock_address *peer;
    bool (*is_counted)(const void *context, const struct srcplan_tuple *source);
    const void *context;
    struct sockdiag_time_wait *time_wait;
};

static void on_waiting(void *context, const struct inet_diag_msg *socket)
{
    const struct waiting *w = context;
    struct srcplan_tuple source = {.address.family = socket->idiag_family,
                                   .port = ntohs(socket->id.idiag_sport)};

    memcpy(source.address.bytes, socket->id.idiag_src, socket->idiag_family == AF_INET ? 4 : 16);
    if (!is_towards(socket, w->peer) || !w->is_counted(w->context, &source))
        return;
    w->time_wait->n++;
    if (socket->idiag_expires > w->time_wait->ends_ms)
        w->time_wait->ends_ms = socket->idiag_expires;
}

int sockdiag_time_wait(const struct sock_address *peer,
                       bool (*is_counted)(const void *context, const struct srcplan_tuple *source),
                       const void *context, struct sockdiag_time_wait *time_wait)
{
    const uint8_t family = (uint8_t)peer->ss.ss_family;
    struct waiting waiting = {peer, is_counted, context, time_wait};

    *time_wait = (struct sockdiag_time_wait){0};
    return list(&family, 1, 1u << TCP_TIME_WAIT, sock_port(peer), on_waiting, &waiting);
}
