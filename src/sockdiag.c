/* SPDX-License-Identifier: MIT
 * sockdiag: see sockdiag.h. */
#include "sockdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 what;
};

static int ask(int fd, uint8_t family)
{
    const struct request request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .what = {.sdiag_family = family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = 1u << TCP_LISTEN},
    };

    return send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request ? 0 : -1;
}

static int error_of(const struct nlmsghdr *header)
{
    const struct nlmsgerr *e = NLMSG_DATA(header);

    return e->error < 0 ? -e->error : EIO;
}

/* One datagram of answers.  Returns 1 when more follow, 0 at the end, -1 with errno. */
static int take(int fd, void (*on_port)(void *, uint16_t), void *context)
{
    _Alignas(struct nlmsghdr) char answers[32768];
    ssize_t n = recv(fd, answers, sizeof answers, 0);
    const struct nlmsghdr *header = (const struct nlmsghdr *)answers;

    if (n <= 0)
        return -1;
    for (unsigned left = (unsigned)n; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
        const struct inet_diag_msg *socket = NLMSG_DATA(header);

        if (header->nlmsg_type == NLMSG_DONE)
            return 0;
        if (header->nlmsg_type == NLMSG_ERROR) {
            errno = error_of(header);
            return -1;
        }
        on_port(context, ntohs(socket->id.idiag_sport));
    }
    return 1;
}

static int list(int fd, uint8_t family, void (*on_port)(void *, uint16_t), void *context)
{
    int more = ask(fd, family) == 0 ? 1 : -1;

    while (more == 1)
        more = take(fd, on_port, context);
    return more;
}

int sockdiag_listeners(void (*on_port)(void *context, uint16_t port), void *context)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int failed, error;

    if (fd < 0)
        return -1;
    failed = list(fd, AF_INET, on_port, context);
    if (failed == 0)
        failed = list(fd, AF_INET6, on_port, context);
    error = errno;
    close(fd);
    errno = error;
    return failed;
}
