/* SPDX-License-Identifier: MIT
 * calls_table: system calls on tables of descriptors, and those that make one of any kind. */
#undef _GNU_SOURCE /* as in calls_socket.c */
#define _DEFAULT_SOURCE

#include "call.h"
#include "descriptor.h"
#include "readiness.h"
#include "violation.h"
#include "world.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Declared here, because the declarations in the headers differ. */
int open(const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
int unshare(int flags);
int close_range(unsigned first, unsigned last, int flags);

static int new_null(const char *what)
{
    return call_new_descriptor(what, world.scenario.open_permille, DESCRIPTOR_NULL);
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

/* On simulated descriptors only F_DUPFD_CLOEXEC, whose copy is closed at once. */
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

/* No poll(2) may wait: a loop that uses it would be slow with many connections. */
int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};
    int n_ready = 0;

    if (!world.active) /* arm64 has no poll */
        return (int)syscall(SYS_ppoll, fds, n, timeout_ms < 0 ? NULL : &timeout, NULL, 0);
    LAW(timeout_ms == 0, "not simulated: poll() that waits");
    call_begin();
    for (nfds_t i = 0; i < n; i++) {
        const struct descriptor *d = fds[i].fd >= 0 ? descriptor_of(fds[i].fd) : NULL;
        /* the flags of poll(2) are those of epoll(7) */
        const uint32_t wanted = (uint16_t)fds[i].events | (uint32_t)(EPOLLERR | EPOLLHUP);

        fds[i].revents = d != NULL ? (short)(readiness_of(d) & wanted) : 0;
        n_ready += fds[i].revents != 0;
    }
    return (int)call_return("poll", -1, n_ready);
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
