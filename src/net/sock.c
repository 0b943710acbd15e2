/* SPDX-License-Identifier: MIT
 * sock: see net/sock.h. */
#include "net/sock.h"

#include "net/sock_stamp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h> /* glibc's tcp_info has only the first fields */
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int on = 1;

static int open_socket(int family, int type)
{
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* For optional settings: continues without them. */
static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_buffers(int fd, int sndbuf_bytes, int rcvbuf_bytes)
{
    if (sndbuf_bytes > 0)
        set_option(fd, SOL_SOCKET, SO_SNDBUF, sndbuf_bytes);
    if (rcvbuf_bytes > 0)
        set_option(fd, SOL_SOCKET, SO_RCVBUF, rcvbuf_bytes);
}

static int close_failed(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

/* --- listening --- */

int sock_share_port(int fd)
{
    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
}

int sock_listen(const struct sock_address *address, const struct sock_listen_options *options)
{
    int fd = open_socket(address->ss.ss_family, SOCK_STREAM);

    if (fd < 0)
        return -1;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_buffers(fd, options->sndbuf_bytes, options->rcvbuf_bytes);
    if (address->ss.ss_family == AF_INET6)
        set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (options->reuse_port && sock_share_port(fd) != 0)
        return close_failed(fd);
    if (bind(fd, (const struct sockaddr *)&address->ss, address->length) != 0 ||
        listen(fd, options->backlog) != 0)
        return close_failed(fd);
    return fd;
}

int sock_local_address(int fd, struct sock_address *address)
{
    address->length = sizeof address->ss;
    return getsockname(fd, (struct sockaddr *)&address->ss, &address->length);
}

/* --- connecting --- */

bool sock_has_local_address(const struct sock_address *target)
{
    const int fd = socket(target->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool has;

    if (fd < 0)
        return true;
    has = connect(fd, (const struct sockaddr *)&target->ss, target->length) == 0 ||
          errno != EADDRNOTAVAIL;
    close(fd);
    return has;
}

int sock_route_source(const struct sock_address *target, struct sock_address *source)
{
    const int fd = socket(target->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&target->ss, target->length) != 0 ||
        sock_local_address(fd, source) != 0)
        return close_failed(fd);
    sock_set_port(source, 0);
    return close(fd);
}

/* Returns the planned address and port for bind(2), in the family of the target. */
static struct sock_address to_bind(const struct srcplan_tuple *source,
                                   const struct sock_address *target)
{
    struct sock_address a = {.ss.ss_family = target->ss.ss_family};
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a.ss;

    if (target->ss.ss_family == AF_INET6) {
        a.length = sizeof *in6;
        memcpy(&in6->sin6_addr, source->address.bytes, 16);
        if (source->address.scope != 0)
            in6->sin6_scope_id = source->address.scope;
        else if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
            in6->sin6_scope_id = ((const struct sockaddr_in6 *)&target->ss)->sin6_scope_id;
    } else {
        a.length = sizeof(struct sockaddr_in);
        memcpy(&((struct sockaddr_in *)&a.ss)->sin_addr, source->address.bytes, 4);
    }
    sock_set_port(&a, source->port);
    return a;
}

static int bind_source(int fd, const struct srcplan_tuple *source,
                       const struct sock_address *target)
{
    struct sock_address a;

    if (source->address.family == AF_UNSPEC && source->port == 0)
        return 0;
    a = to_bind(source, target);
    return bind(fd, (const struct sockaddr *)&a.ss, a.length);
}

static bool is_wildcard(const struct sock_address *a)
{
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)&a->ss)->sin6_addr;

    return a->ss.ss_family == AF_INET6
               ? IN6_IS_ADDR_UNSPECIFIED(in6)
               : ((const struct sockaddr_in *)&a->ss)->sin_addr.s_addr == htonl(INADDR_ANY);
}

static bool is_multicast(const struct sock_address *a)
{
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)&a->ss)->sin6_addr;

    return a->ss.ss_family == AF_INET6
               ? IN6_IS_ADDR_MULTICAST(in6)
               : IN_MULTICAST(ntohl(((const struct sockaddr_in *)&a->ss)->sin_addr.s_addr));
}

static bool is_limited_broadcast(const struct sock_address *a)
{
    return a->ss.ss_family == AF_INET &&
           ((const struct sockaddr_in *)&a->ss)->sin_addr.s_addr == htonl(INADDR_BROADCAST);
}

/* A broadcast address of a subnet: connect(2) of UDP needs SO_BROADCAST for it.  Connects fd if it
 * is one. */
static bool is_subnet_broadcast(int fd, const struct sock_address *a)
{
    struct sock_address to = *a;

    sock_set_port(&to, 1);
    if (connect(fd, (const struct sockaddr *)&to.ss, to.length) == 0 || errno != EACCES)
        return false;
    set_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
    return connect(fd, (const struct sockaddr *)&to.ss, to.length) == 0;
}

bool sock_is_of_group(const struct sock_address *target)
{
    int fd;
    bool is_one;

    if (is_multicast(target) || is_limited_broadcast(target))
        return true;
    fd = socket(target->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    is_one = is_subnet_broadcast(fd, target);
    close(fd);
    return is_one;
}

static enum sock_source test_source(int fd, const struct srcplan_tuple *source,
                                    const struct sock_address *target)
{
    const struct sock_address a = to_bind(source, target);

    /* bind(2) takes it, but as the source of packets the kernel selects an address of its own */
    if (is_wildcard(&a) || is_multicast(&a) || is_limited_broadcast(&a))
        return SOCK_SOURCE_NOT_UNICAST;
    if (bind_source(fd, source, target) != 0)
        return errno == EADDRNOTAVAIL ? SOCK_SOURCE_FOREIGN : SOCK_SOURCE_USABLE;
    if (is_subnet_broadcast(fd, &a))
        return SOCK_SOURCE_NOT_UNICAST;
    /* a route that discards packets also fails with EINVAL; net.ipv4.conf.*.route_localnet lets
     * loopback through (Linux, __mkroute_output()) */
    if (sock_is_loopback(&a) &&
        connect(fd, (const struct sockaddr *)&target->ss, target->length) != 0 && errno == EINVAL)
        return SOCK_SOURCE_LOOPBACK;
    return SOCK_SOURCE_USABLE;
}

enum sock_source sock_test_source(const struct srcplan_address *source,
                                  const struct sock_address *target)
{
    const struct srcplan_tuple any_port = {.address = *source};
    const int fd = socket(target->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    enum sock_source result;

    if (fd < 0)
        return SOCK_SOURCE_USABLE;
    result = test_source(fd, &any_port, target);
    close(fd);
    return result;
}

enum sock_route sock_route_of_errno(int error)
{
    switch (error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EINVAL:
        return SOCK_ROUTE_NONE;
    case EACCES:
        return SOCK_ROUTE_DENIED;
    default:
        return SOCK_ROUTE_FOUND;
    }
}

enum sock_route sock_test_route(const struct sock_address *target,
                                const struct srcplan_tuple *source)
{
    const struct srcplan_tuple any_port = {.address = source->address};
    const int fd = socket(target->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    enum sock_route route = SOCK_ROUTE_FOUND;

    if (fd < 0)
        return SOCK_ROUTE_FOUND;
    if (bind_source(fd, &any_port, target) == 0 &&
        connect(fd, (const struct sockaddr *)&target->ss, target->length) != 0)
        route = sock_route_of_errno(errno);
    close(fd);
    return route;
}

/* For a fixed port, EADDRNOTAVAIL from bind(2) means that the address is not local. */
static struct outcome bind_failed(int error)
{
    if (error == EADDRNOTAVAIL)
        return (struct outcome){PHASE_BIND, REASON_UNREACHABLE};
    return (struct outcome){PHASE_BIND, outcome_reason_of_errno(error)};
}

/* UDP sockets that share a port, as SO_REUSEADDR would let them, take each other's datagrams. */
static void set_options(int fd, const struct sock_connect_options *options)
{
    if (!options->datagrams) {
        /* a tuple in TIME_WAIT can be reused at once if the old and the new socket set this */
        set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    set_buffers(fd, options->sndbuf_bytes, options->rcvbuf_bytes);
    if (options->stamp_received)
        (void)sock_stamp_received(fd);
}

/* What connect(2) itself returns comes from this host; nobody else has seen a packet yet.  EINVAL
 * is a route that discards packets (ip-route(8), blackhole). */
static struct outcome connect_failed(int error)
{
    const enum outcome_reason reason = outcome_reason_of_errno(error);
    const bool has_no_route = reason == REASON_UNREACHABLE || error == EINVAL;

    return (struct outcome){PHASE_CONNECT, has_no_route ? REASON_ROUTE : reason};
}

/* A UDP socket for which the kernel finds no port fails with EAGAIN. */
static int connect_error(int error, const struct sock_connect_options *options)
{
    return error == EAGAIN && options->datagrams ? EADDRNOTAVAIL : error;
}

int sock_connect(const struct sock_address *target, const struct srcplan_tuple *source,
                 const struct sock_connect_options *options, struct outcome *failed)
{
    int fd = open_socket(target->ss.ss_family, options->datagrams ? SOCK_DGRAM : SOCK_STREAM);

    if (fd < 0) {
        *failed = (struct outcome){PHASE_SOCKET, outcome_reason_of_errno(errno)};
        return -1;
    }
    set_options(fd, options);
    if (bind_source(fd, source, target) != 0) {
        *failed = bind_failed(errno);
        return close_failed(fd);
    }
    if (connect(fd, (const struct sockaddr *)&target->ss, target->length) != 0 &&
        errno != EINPROGRESS) {
        errno = connect_error(errno, options);
        *failed = connect_failed(errno);
        return close_failed(fd);
    }
    return fd;
}

int sock_error(int fd)
{
    int error = 0;
    socklen_t length = sizeof error;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

bool sock_is_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &length) == 0;
}

bool sock_is_its_own_peer(int fd)
{
    struct sock_address peer = {.length = sizeof peer.ss};
    struct srcplan_tuple own, other;

    if (getpeername(fd, (struct sockaddr *)&peer.ss, &peer.length) != 0)
        return false;
    sock_local_tuple(fd, &own);
    other = sock_tuple(&peer);
    return own.port == other.port &&
           memcmp(own.address.bytes, other.address.bytes, sizeof own.address.bytes) == 0;
}

struct sock_tcp sock_tcp(int fd)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return (struct sock_tcp){.unheard_ms = UINT32_MAX};
    return (struct sock_tcp){.retransmits = info.tcpi_total_retrans,
                             .duplicates = info.tcpi_dsack_dups,
                             .min_rtt_us = info.tcpi_min_rtt != UINT32_MAX ? info.tcpi_min_rtt : 0,
                             .idle_ms = info.tcpi_last_data_recv < info.tcpi_last_data_sent
                                            ? info.tcpi_last_data_recv
                                            : info.tcpi_last_data_sent,
                             .unsent_ms = info.tcpi_last_data_sent,
                             .unheard_ms = info.tcpi_last_data_recv,
                             .timeouts = (uint32_t)info.tcpi_retransmits + info.tcpi_probes};
}

void sock_local_tuple(int fd, struct srcplan_tuple *tuple)
{
    struct sock_address a;

    *tuple = (struct srcplan_tuple){.address.family = AF_UNSPEC};
    if (sock_local_address(fd, &a) == 0)
        *tuple = sock_tuple(&a);
}

bool sock_has_unacknowledged(int fd)
{
    int n_bytes;

    return ioctl(fd, SIOCOUTQ, &n_bytes) == 0 && n_bytes > 0;
}

void sock_reset_on_close(int fd)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void sock_quickack(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}
