/* SPDX-License-Identifier: MIT
 * writing: see base/writing.h. */
#include "base/writing.h"

#include "base/clock.h"
#include "base/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_MS = 20 };

static _Atomic uint64_t stalled_ns; /* time without progress since shutdown was requested */

int writing_open_again(int fd)
{
    char path[32];
    struct stat status;
    int again = -1;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || isatty(fd) == 1))
        again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Like write(2), but returns -1 with EAGAIN rather than wait for a reader. */
static ssize_t write_some(int fd, const char *text, size_t n_bytes)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    struct stat status;
    ssize_t n;

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return write(fd, text, n_bytes);
    if (poll(&writable, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    n = send(fd, text, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0 || errno != ENOTSOCK)
        return n;
    return write(fd, text, n_bytes < PIPE_BUF ? n_bytes : PIPE_BUF);
}

bool writing_until_shutdown(uint64_t waited_ns)
{
    return !shutdown_was_requested() ||
           atomic_fetch_add(&stalled_ns, waited_ns) + waited_ns < WRITING_TIMEOUT_NS;
}

bool writing_never(uint64_t waited_ns)
{
    (void)waited_ns;
    return false;
}

/* Returns how long it has waited. */
static uint64_t wait_for_reader(int fd)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    const uint64_t begin_ns = clock_now_ns();

    poll(&writable, 1, POLL_MS);
    return clock_now_ns() - begin_ns;
}

size_t writing_all(int fd, const char *text, size_t n_bytes, writing_may_wait *may_wait, int *error)
{
    size_t n_written = 0;
    uint64_t waited_ns = 0;

    *error = 0;
    while (n_written < n_bytes) {
        const ssize_t n = write_some(fd, text + n_written, n_bytes - n_written);

        if (n >= 0) {
            n_written += (size_t)n;
            waited_ns = 0;
            atomic_store(&stalled_ns, 0);
        } else if (errno == EAGAIN && may_wait(waited_ns)) {
            waited_ns = wait_for_reader(fd);
        } else if (errno != EINTR) {
            *error = errno;
            break;
        }
    }
    return n_written;
}
