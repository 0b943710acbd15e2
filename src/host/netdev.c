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
#include <sys/ioctl.h>
#include <unistd.h>

_Static_assert(NETDEV_NAME_BYTES == IF_NAMESIZE, "size of a name");

/* Room for a destination, a source, an interface and a protocol. */
struct request {
    struct nlmsghdr header;
    struct rtmsg route;
    char attributes[2 * RTA_SPACE(sizeof(struct in6_addr)) + RTA_SPACE(sizeof(unsigned)) +
                    RTA_SPACE(sizeof(uint8_t))];
};

/* Copies the header: the compiler assumes that nothing of its type is among characters. */
static void add_attribute(struct request *r, unsigned short type, const void *value, size_t n_bytes)
{
    const struct rtattr header = {(unsigned short)RTA_LENGTH(n_bytes), type};
    char *to = (char *)r + r->header.nlmsg_len;

    memcpy(to, &header, sizeof header);
    memcpy(to + RTA_LENGTH(0), value, n_bytes);
    r->header.nlmsg_len += (uint32_t)RTA_SPACE(n_bytes);
}

/* The interface that a link-local address names; 0: none. */
static unsigned scope_of(const struct sock_address *target)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&target->ss;

    return in6->sin6_family == AF_INET6 ? in6->sin6_scope_id : 0;
}

static struct request question(const struct sock_address *target)
{
    const struct srcplan_tuple t = sock_tuple(target);
    const struct in6_addr *six = (const struct in6_addr *)t.address.bytes;
    const bool v6 = t.address.family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(six);
    const uint8_t n_bytes = v6 ? 16 : 4;
    const unsigned scope = scope_of(target);
    struct request r = {
        .header = {.nlmsg_len = offsetof(struct request, attributes),
                   .nlmsg_type = RTM_GETROUTE,
                   .nlmsg_flags = NLM_F_REQUEST},
        .route = {.rtm_family = v6 ? AF_INET6 : AF_INET, .rtm_dst_len = (uint8_t)(n_bytes * 8)},
    };

    add_attribute(&r, RTA_DST, t.address.bytes + (t.address.family == AF_INET6 && !v6 ? 12 : 0),
                  n_bytes);
    if (scope != 0)
        add_attribute(&r, RTA_OIF, &scope, sizeof scope);
    return r;
}

struct route {
    int error; /* why there is none: an errno */
    unsigned interface;
    bool is_local; /* an address of this network namespace */
};

/* Returns 0; or -1 with errno, that of route.error if the kernel said that there is none. */
static int read_route(const struct nlmsghdr *header, unsigned n_bytes, struct route *found)
{
    const struct rtmsg *route = NLMSG_DATA(header);
    const struct rtattr *a = RTM_RTA(route);

    errno = ENETUNREACH;
    if (!NLMSG_OK(header, n_bytes))
        return -1;
    if (header->nlmsg_type == NLMSG_ERROR) {
        found->error = errno = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
        return -1;
    }
    if (header->nlmsg_type != RTM_NEWROUTE)
        return -1;
    found->is_local = route->rtm_type == RTN_LOCAL;
    for (unsigned left = (unsigned)RTM_PAYLOAD(header); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == RTA_OIF) {
            memcpy(&found->interface, RTA_DATA(a), sizeof found->interface);
            return 0;
        }
    return -1;
}

/* Returns as read_route() does. */
static int ask(const struct request *r, struct route *found)
{
    _Alignas(struct nlmsghdr) char answer[4096];
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = send(fd, r, r->header.nlmsg_len, 0);
    if (n >= 0)
        n = recv(fd, answer, sizeof answer, 0);
    close(fd);
    return n < 0 ? -1 : read_route((const struct nlmsghdr *)answer, (unsigned)n, found);
}

static int find_route(const struct sock_address *target, struct route *found)
{
    const struct request r = question(target);

    return ask(&r, found);
}

/* connect(2) treats the all-zero address as loopback. */
static bool is_any(const struct sock_address *target)
{
    static const uint8_t zero[16];
    const struct srcplan_tuple t = sock_tuple(target);

    return memcmp(t.address.bytes, zero, srcplan_address_bytes(t.address.family)) == 0;
}

static bool is_mapped(const struct sock_address *target)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&target->ss;

    return in6->sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);
}

/* Rules may depend on the protocol and on the source (ip-rule(8)).  The source is one that the
 * target's family has; AF_UNSPEC: any. */
static struct request question_from(const struct sock_address *target,
                                    const struct srcplan_tuple *source, uint8_t protocol)
{
    struct request r = question(target);

    add_attribute(&r, RTA_IP_PROTO, &protocol, sizeof protocol);
    if (source->address.family != AF_UNSPEC && !is_mapped(target)) {
        r.route.rtm_src_len = r.route.rtm_dst_len;
        add_attribute(&r, RTA_SRC, source->address.bytes, r.route.rtm_src_len / 8u);
    }
    return r;
}

int netdev_towards(const struct sock_address *target, const struct srcplan_tuple *source,
                   bool datagrams, char name[NETDEV_NAME_BYTES])
{
    const struct request r = question_from(target, source, datagrams ? IPPROTO_UDP : IPPROTO_TCP);
    struct route route = {.interface = scope_of(target)};

    if (route.interface == 0 && ask(&r, &route) != 0)
        return -1;
    return if_indextoname(route.interface, name) != NULL ? 0 : -1;
}

enum sock_route netdev_test_route(const struct sock_address *target,
                                  const struct srcplan_tuple *source)
{
    const struct request r = question_from(target, source, IPPROTO_TCP);
    struct route route = {.error = 0};

    if (is_any(target) || is_mapped(target))
        return sock_test_route(target, source);
    if (ask(&r, &route) == 0)
        return SOCK_ROUTE_FOUND;
    return route.error != 0 ? sock_route_of_errno(route.error) : sock_test_route(target, source);
}

bool netdev_target_is_here(const struct sock_address *target)
{
    struct route route;

    return sock_is_loopback(target) || is_any(target) ||
           (find_route(target, &route) == 0 && route.is_local);
}

bool netdev_is_down(const char *name)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {.ifr_flags = IFF_UP};

    if (fd < 0)
        return false;
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (ioctl(fd, SIOCGIFFLAGS, &r) != 0)
        r.ifr_flags = IFF_UP;
    close(fd);
    return (r.ifr_flags & IFF_UP) == 0;
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
