/* SPDX-License-Identifier: MIT
 * inet_sockets: see host/watch/inet_sockets.h. */
#include "host/watch/inet_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 what;
};

static int send_request(int fd, uint8_t family, const struct inet_sockets *which)
{
    const struct request request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .what = {.sdiag_family = family,
                 .sdiag_protocol = which->udp ? IPPROTO_UDP : IPPROTO_TCP,
                 .idiag_ext = which->extensions,
                 .idiag_states = which->states,
                 .id = {.idiag_sport = htons(which->own_port),
                        .idiag_dport = htons(which->peer_port)}},
    };

    return send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request ? 0 : -1;
}

static int error_of(const struct nlmsghdr *header)
{
    const struct nlmsgerr *e = NLMSG_DATA(header);

    return e->error < 0 ? -e->error : EIO;
}

/* Reads one datagram of responses.  Returns 1 if more follow, 0 at the end, -1 with errno. */
static int read_responses(int fd, inet_sockets_on_socket *on_socket, void *context)
{
    _Alignas(struct nlmsghdr) char answers[16384];
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
        on_socket(context, NLMSG_DATA(header), NLMSG_PAYLOAD(header, 0));
    }
    return 1;
}

static int list_family(int fd, uint8_t family, const struct inet_sockets *which,
                       inet_sockets_on_socket *on_socket, void *context)
{
    int more = send_request(fd, family, which) == 0 ? 1 : -1;

    while (more == 1)
        more = read_responses(fd, on_socket, context);
    return more;
}

int inet_sockets_each(const struct inet_sockets *which, inet_sockets_on_socket *on_socket,
                      void *context)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int failed = 0, error;

    if (fd < 0)
        return -1;
    for (int i = 0; i < 2 && !failed; i++)
        if (which->family == AF_UNSPEC || which->family == families[i])
            failed = list_family(fd, families[i], which, on_socket, context);
    error = errno;
    close(fd);
    errno = error;
    return failed;
}
