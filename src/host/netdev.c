/* SPDX-License-Identifier: MIT
 * netdev: see host/netdev.h. */
#include "host/netdev.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(NETDEV_NAME_BYTES == IF_NAMESIZE, "size of a name");

struct request {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr attribute;
    uint8_t address[16];
};

static struct request question(const struct sock_address *target)
{
    const bool v6 = target->ss.ss_family == AF_INET6;
    const uint8_t n_bytes = v6 ? 16 : 4;
    struct request r = {
        .header = {.nlmsg_len = (uint32_t)(offsetof(struct request, address) + n_bytes),
                   .nlmsg_type = RTM_GETROUTE,
                   .nlmsg_flags = NLM_F_REQUEST},
        .route = {.rtm_family = (uint8_t)target->ss.ss_family,
                  .rtm_dst_len = (uint8_t)(n_bytes * 8)},
        .attribute = {.rta_len = (uint16_t)RTA_LENGTH(n_bytes), .rta_type = RTA_DST},
    };

    memcpy(r.address,
           v6 ? (const void *)&((const struct sockaddr_in6 *)&target->ss)->sin6_addr
              : (const void *)&((const struct sockaddr_in *)&target->ss)->sin_addr,
           n_bytes);
    return r;
}

/* The index of the outgoing interface in a response, or 0 with errno. */
static unsigned interface_of(const struct nlmsghdr *header, unsigned n_bytes)
{
    const struct rtmsg *route = NLMSG_DATA(header);
    const struct rtattr *a = RTM_RTA(route);
    unsigned index;

    errno = ENETUNREACH;
    if (!NLMSG_OK(header, n_bytes) || header->nlmsg_type != RTM_NEWROUTE)
        return 0;
    for (unsigned left = (unsigned)RTM_PAYLOAD(header); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == RTA_OIF) {
            memcpy(&index, RTA_DATA(a), sizeof index);
            return index;
        }
    return 0;
}

static unsigned request_interface(int fd, const struct sock_address *target)
{
    _Alignas(struct nlmsghdr) char answer[4096];
    const struct request r = question(target);
    ssize_t n = send(fd, &r, r.header.nlmsg_len, 0);

    if (n >= 0)
        n = recv(fd, answer, sizeof answer, 0);
    return n < 0 ? 0 : interface_of((const struct nlmsghdr *)answer, (unsigned)n);
}

/* The interface that a link-local address names; 0: none. */
static unsigned scope_of(const struct sock_address *target)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&target->ss;

    return in6->sin6_family == AF_INET6 ? in6->sin6_scope_id : 0;
}

int netdev_towards(const struct sock_address *target, char name[NETDEV_NAME_BYTES])
{
    unsigned index = scope_of(target);
    int fd;

    if (index == 0) {
        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        if (fd < 0)
            return -1;
        index = request_interface(fd, target);
        close(fd);
    }
    return index != 0 && if_indextoname(index, name) != NULL ? 0 : -1;
}

/* "  name: bytes packets errs drop fifo frame compressed multicast bytes packets ...", receive
 * fields first */
static int parse(const char *line, const char *name, struct netdev_counters *c)
{
    const size_t n_name = strlen(name);

    line += strspn(line, " ");
    if (strncmp(line, name, n_name) != 0 || line[n_name] != ':')
        return -1;
    return sscanf(line + n_name + 1,
                  "%" SCNu64 " %" SCNu64 " %*u %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                  &c->rx_bytes, &c->rx_packets, &c->tx_bytes, &c->tx_packets) == 4
               ? 0
               : -1;
}

bool netdev_counts_on(const struct netdev_counters *later, const struct netdev_counters *earlier)
{
    return later->rx_packets >= earlier->rx_packets && later->rx_bytes >= earlier->rx_bytes &&
           later->tx_packets >= earlier->tx_packets && later->tx_bytes >= earlier->tx_bytes;
}

int netdev_read(const char *name, struct netdev_counters *counters)
{
    FILE *f = fopen("/proc/net/dev", "re");
    char line[512];
    int failed = -1;

    if (f == NULL)
        return -1;
    while (failed != 0 && fgets(line, sizeof line, f) != NULL)
        failed = parse(line, name, counters);
    fclose(f);
    return failed;
}
