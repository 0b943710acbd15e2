/* SPDX-License-Identifier: MIT
 * calls: the system calls that only tcpserver makes. */
#undef _GNU_SOURCE /* as in calls_socket.c */
#define _DEFAULT_SOURCE

#include "call.h"
#include "clients.h"
#include "descriptor.h"
#include "fiber.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without the headers, whose declarations differ. */
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);

/* --- accept(2) --- */

static void tell(const struct tcp *t, struct sockaddr *address, socklen_t *length)
{
    const struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(t->port), .sin_addr.s_addr = htonl(t->address)};

    if (address == NULL)
        return;
    memcpy(address, &in, sizeof in < *length ? sizeof in : *length);
    *length = sizeof in;
}

/* A fault.  Some of them lose the connection. */
static int fault(uint32_t listener)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO, EINTR};
    const int error = CALL_FAULT(world.scenario.accept_permille, errnos);
    int64_t i;

    if ((error == ECONNABORTED || error == EPROTO) && (i = tcp_take_waiting(listener)) >= 0) {
        clients_lose((uint32_t)i);
        tcp_close((uint32_t)i);
    }
    return error;
}

/* Like the kernel, which reserves the descriptor before it looks at the queue. */
int accept4(int listener_fd, struct sockaddr *address, socklen_t *length, int flags)
{
    struct descriptor *d;
    uint32_t listener;
    int64_t i;
    int fd, error;

    if (!descriptor_is_simulated(listener_fd))
        return (int)syscall(SYS_accept4, listener_fd, address, length, flags);
    call_begin();
    d = descriptor_of(listener_fd);
    LAW(d != NULL && d->kind == DESCRIPTOR_SOCKET && tcp_at(d->tcp)->state == TCP_LISTENING,
        "accept4(%d): not listening", listener_fd);
    LAW(flags == (SOCK_NONBLOCK | SOCK_CLOEXEC), "not simulated: accept4(%d), flags %x",
        listener_fd, flags);
    listener = d->tcp;
    error = fault(listener);
    if (error != 0)
        return (int)call_return("accept", listener_fd, -error);
    fd = descriptor_new(DESCRIPTOR_NULL);
    if (fd < 0)
        return (int)call_return("accept", listener_fd, -errno);
    i = tcp_accept(listener, fd);
    if (i < 0) {
        descriptor_close(fd);
        return (int)call_return("accept", listener_fd, i);
    }
    d = descriptor_of(fd);
    d->kind = DESCRIPTOR_SOCKET;
    d->tcp = (uint32_t)i;
    tell(tcp_at((uint32_t)i), address, length);
    clients_accepted((uint32_t)i);
    return (int)call_return("accept", listener_fd, fd);
}

/* --- ioctl(2) --- */

static int tell_unacknowledged(int fd, int *n_bytes)
{
    int64_t i;

    call_begin();
    i = call_tcp(fd);
    LAW(i >= 0, "ioctl(%d): no socket", fd);
    *n_bytes = (int)tcp_at((uint32_t)i)->in_flight;
    tcp_at((uint32_t)i)->unacknowledged_was_told = *n_bytes > 0;
    return (int)call_return("siocoutq", fd, 0);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    void *value;

    va_start(list, request);
    value = va_arg(list, void *);
    va_end(list);
    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_ioctl, fd, request, value);
    LAW(request == SIOCOUTQ, "not simulated: ioctl(%d, %lx)", fd, request);
    return tell_unacknowledged(fd, value);
}

/* --- threads --- */

/* A thread may sleep in a call while it holds one. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex) != 0)
        fiber_sleep(world.now_ns + 1000);
    return 0;
}
