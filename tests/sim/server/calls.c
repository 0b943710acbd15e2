/* SPDX-License-Identifier: MIT
 * calls: the system calls that only tcpserver makes. */
#undef _GNU_SOURCE /* as in calls_socket.c */
#define _DEFAULT_SOURCE

#include "call.h"
#include "clients.h"
#include "descriptor.h"
#include "fiber.h"
#include "ports.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Without the headers, whose declarations differ. */
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int open(const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
int unshare(int flags);
int close_range(unsigned first, unsigned last, int flags);

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

/* A fault.  Some take the connection with them. */
static int fault(uint32_t listener)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EPROTO, EINTR};
    const int error = call_fault(world.scenario.accept_permille, errnos, N(errnos));
    int64_t i;

    if ((error == ECONNABORTED || error == EPROTO) && (i = tcp_take_waiting(listener)) >= 0) {
        clients_lose((uint32_t)i);
        tcp_close((uint32_t)i);
    }
    return error;
}

/* As the kernel, which has the descriptor before it looks at the queue. */
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

/* --- descriptors --- */

static int new_null(const char *what)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOMEM};
    const int error = call_fault(world.scenario.open_permille, errnos, N(errnos));
    int fd;

    if (error != 0)
        return (int)call_return(what, -1, -error);
    fd = descriptor_new(DESCRIPTOR_NULL);
    return (int)call_return(what, -1, fd < 0 ? -errno : fd);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    int mode;

    if (world.active && strcmp(path, "/dev/null") == 0) {
        call_begin();
        return new_null("open");
    }
    va_start(arguments, flags);
    mode = va_arg(arguments, int);
    va_end(arguments);
    return (int)syscall(SYS_openat, -100 /* AT_FDCWD */, path, flags, mode);
}

/* Of a simulated one: only F_DUPFD_CLOEXEC, of which the copy is closed at once. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    long argument;

    if (descriptor_is_simulated(fd)) {
        call_begin();
        LAW(command == 1030, "not simulated: fcntl(%d, %d)", fd, command);
        return new_null("dup");
    }
    va_start(arguments, command);
    argument = va_arg(arguments, long);
    va_end(arguments);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    int n_ready = 0;

    if (!world.active)
        return (int)syscall(SYS_poll, fds, n, timeout_ms);
    LAW(timeout_ms == 0, "not simulated: poll() that waits");
    call_begin();
    for (nfds_t i = 0; i < n; i++) {
        const struct descriptor *d = fds[i].fd >= 0 ? descriptor_of(fds[i].fd) : NULL;
        /* the flags of poll(2) are those of epoll(7) */
        const uint32_t wanted = (uint16_t)fds[i].events | (uint32_t)(EPOLLERR | EPOLLHUP);

        fds[i].revents = d != NULL ? (short)(descriptor_ready(d) & wanted) : 0;
        n_ready += fds[i].revents != 0;
    }
    return (int)call_return("poll", -1, n_ready);
}

/* --- threads --- */

/* A thread may sleep in a call while it holds one. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex) != 0)
        fiber_sleep(world.now_ns + 1000);
    return 0;
}

int unshare(int flags)
{
    if (!world.active)
        return (int)syscall(SYS_unshare, flags);
    call_begin();
    descriptor_unshare();
    return 0;
}

int close_range(unsigned first, unsigned last, int flags)
{
    if (!world.active)
        return (int)syscall(SYS_close_range, first, last, flags);
    call_begin();
    descriptor_close_range(first < INT32_MAX ? (int)first : INT32_MAX,
                           last < INT32_MAX ? (int)last : INT32_MAX);
    return 0;
}
