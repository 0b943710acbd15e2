/* SPDX-License-Identifier: MIT
 * calls_socket: socket(2), the addresses and options of a socket, and close(2) of any descriptor.
 */
#undef _GNU_SOURCE /* with it glibc declares some of these with a union in place of a pointer */
#define _DEFAULT_SOURCE
#undef _FORTIFY_SOURCE /* with it glibc defines some of these inline */

#include "call.h"
#include "descriptor.h"
#include "fiber.h"
#include "ports.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <linux/tcp.h> /* glibc's tcp_info has only the first fields */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- come and go --- */

int socket(int domain, int type, int protocol)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    const bool is_datagram = (type & ~SOCK_NONBLOCK) == (SOCK_DGRAM | SOCK_CLOEXEC);
    int error, fd;

    if (!world.active)
        return (int)syscall(SYS_socket, domain, type, protocol);
    call_begin();
    LAW(domain == AF_INET && (type == (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC) || is_datagram),
        "not simulated: socket(%d, %d)", domain, type);
    error = CALL_FAULT(world.scenario.socket_permille, errnos);
    if (error != 0)
        return (int)call_return("socket", -1, -error);
    fd = descriptor_new(DESCRIPTOR_SOCKET);
    if (fd < 0)
        return (int)call_return("socket", -1, -errno);
    descriptor_of(fd)->tcp = tcp_new(fd);
    tcp_at(descriptor_of(fd)->tcp)->is_datagram = is_datagram;
    return (int)call_return("socket", -1, fd);
}

int close(int fd)
{
    const struct descriptor *d;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_close, fd);
    call_begin();
    d = descriptor_of(fd); /* others may have run */
    LAW(d != NULL, "close(%d): not open", fd);
    descriptor_close(fd);
    return (int)call_return("close", fd, 0);
}

/* --- addresses --- */

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    static const int errnos[] = {EADDRINUSE, EADDRINUSE, EADDRINUSE, EADDRNOTAVAIL, EACCES};
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
    int64_t i;
    int error;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_bind, fd, address, length);
    call_begin();
    i = call_tcp(fd);
    if (i < 0)
        return (int)call_return("bind", fd, i);
    error = CALL_FAULT(world.scenario.bind_permille, errnos);
    if (error == 0)
        error = ports_bind(tcp_at((uint32_t)i), ntohl(in->sin_addr.s_addr), ntohs(in->sin_port));
    return (int)call_return("bind", fd, -error);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    static const int errnos[] = {EADDRNOTAVAIL, EADDRNOTAVAIL, ENETUNREACH, EPERM,
                                 ECONNREFUSED,  ENOBUFS,       EHOSTUNREACH};
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
    int64_t i;
    int error;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_connect, fd, address, length);
    call_begin();
    i = call_tcp(fd);
    if (i < 0)
        return (int)call_return("connect", fd, i);
    error = CALL_FAULT(world.scenario.connect_permille, errnos);
    if (error == 0)
        error = ports_choose(tcp_at((uint32_t)i));
    tcp_at((uint32_t)i)->peer_port = ntohs(in->sin_port);
    tcp_at((uint32_t)i)->ledger.connect_ns = fiber_clock_ns[fiber_current()];
    tcp_at((uint32_t)i)->is_secure =
        world.scenario.tls > 0 && !ports_are_plain(ntohs(in->sin_port));
    if (error == 0)
        error = tcp_connect((uint32_t)i);
    return (int)call_return("connect", fd, -error);
}

static void tell(struct sockaddr *address, socklen_t *length, uint32_t ip, uint16_t port)
{
    const struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};

    memcpy(address, &in, sizeof in < *length ? sizeof in : *length);
    *length = sizeof in;
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    int64_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_getsockname, fd, address, length);
    call_begin();
    i = call_tcp(fd);
    if (i >= 0)
        tell(address, length, tcp_at((uint32_t)i)->address, tcp_at((uint32_t)i)->port);
    return (int)call_return("getsockname", fd, i < 0 ? i : 0);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    int64_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_getpeername, fd, address, length);
    call_begin();
    i = call_tcp(fd);
    if (i >= 0 && tcp_at((uint32_t)i)->state != TCP_ESTABLISHED)
        i = -ENOTCONN;
    if (i >= 0)
        tell(address, length, PORTS_PEER_ADDRESS, tcp_at((uint32_t)i)->peer_port);
    return (int)call_return("getpeername", fd, i < 0 ? i : 0);
}

/* --- options --- */

static void tell_tcp_info(const struct tcp *t, void *value, socklen_t *length)
{
    const uint64_t unheard_ns = world.now_ns - t->arrived_ns;
    const struct tcp_info info = {.tcpi_total_retrans = t->retransmits,
                                  .tcpi_last_data_recv = (uint32_t)(unheard_ns / 1000000),
                                  .tcpi_min_rtt = (uint32_t)(2 * world.scenario.latency_us)};

    memcpy(value, &info, sizeof info < *length ? sizeof info : *length);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    int64_t i;
    int error;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_getsockopt, fd, level, option, value, length);
    call_begin();
    i = call_tcp(fd);
    if (i < 0)
        return (int)call_return("getsockopt", fd, i);
    if (level == SOL_SOCKET && option == SO_ERROR) {
        error = tcp_take_error((uint32_t)i);
        memcpy(value, &error, sizeof error);
        return (int)call_return("so_error", fd, 0);
    }
    if (level == SOL_SOCKET && option == SO_MEMINFO) { /* nothing is dropped here */
        memset(value, 0, *length);
        return (int)call_return("meminfo", fd, 0);
    }
    LAW(level == IPPROTO_TCP && option == TCP_INFO, "not simulated: getsockopt(%d, %d)", level,
        option);
    tell_tcp_info(tcp_at((uint32_t)i), value, length);
    return (int)call_return("tcp_info", fd, 0);
}

/* Its value is a struct linger. */
static bool resets_on_close(const void *value)
{
    const struct linger *linger = value;

    return linger->l_onoff != 0 && linger->l_linger == 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    int64_t i;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
    call_begin();
    i = call_tcp(fd);
    if (i >= 0 && level == SOL_SOCKET && option == SO_LINGER)
        tcp_at((uint32_t)i)->reset_on_close = resets_on_close(value);
    return (int)call_return("setsockopt", fd, i < 0 ? i : 0);
}
