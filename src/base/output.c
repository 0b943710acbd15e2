/* SPDX-License-Identifier: MIT
 * output: see base/output.h. */
#include "base/output.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 12, POLL_MS = 20, STREAM_BYTES = 1 << 16 };

/* The open outputs, to detect duplicates. */
static const struct output *opened[MOST_OUTPUTS];

static struct output messages = OUTPUT_CLOSED; /* stderr */
static atomic_bool drops;
static _Atomic uint64_t stalled_ns; /* time without progress since shutdown was requested */

/* --- writing --- */

/* Whether to keep waiting for a reader that has read nothing since `since_ns`. */
static bool may_wait(const struct output *o, uint64_t *since_ns)
{
    const uint64_t now_ns = clock_now_ns();
    uint64_t all_ns;

    if (o == &messages && atomic_load(&drops))
        return false;
    if (!shutdown_was_requested())
        return true;
    if (*since_ns == 0)
        *since_ns = now_ns;
    all_ns = atomic_fetch_add(&stalled_ns, now_ns - *since_ns) + now_ns - *since_ns;
    *since_ns = now_ns;
    return all_ns < OUTPUT_PATIENCE_NS;
}

/* Blocks only on a regular file, and on a pipe that another process fills between poll(2) and
 * write(2) if open_again() failed. */
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

static bool wait_until_writable(const struct output *o, uint64_t *since_ns)
{
    struct pollfd writable = {.fd = o->fd, .events = POLLOUT};

    if (!may_wait(o, since_ns))
        return false;
    poll(&writable, 1, POLL_MS);
    return true;
}

/* Drops what cannot be written: stdio would keep it and retry forever. */
static ssize_t write_all(void *cookie, const char *text, size_t n_bytes)
{
    struct output *o = cookie;
    size_t n_written = 0;
    uint64_t since_ns = 0;
    int error = o->error;

    while (n_written < n_bytes && error == 0) {
        const ssize_t n = write_some(o->fd, text + n_written, n_bytes - n_written);

        if (n >= 0) {
            n_written += (size_t)n;
            since_ns = 0;
            atomic_store(&stalled_ns, 0);
        } else if (errno == EAGAIN) {
            if (!wait_until_writable(o, &since_ns))
                break;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (o == &messages) /* the next message may succeed; all threads write messages */
        return (ssize_t)n_bytes;
    if (n_written < n_bytes && error == 0)
        error = EAGAIN;
    o->error = error;
    return error == 0 ? (ssize_t)n_bytes : 0;
}

static FILE *open_stream(struct output *o)
{
    static char message[STREAM_BYTES]; /* exists before the threads that write it */
    FILE *stream = fopencookie(o, "w", (cookie_io_functions_t){.write = write_all});

    if (stream != NULL && o == &messages)
        (void)setvbuf(stream, message, _IOLBF, sizeof message);
    else if (stream != NULL)
        (void)setvbuf(stream, NULL, _IOFBF, STREAM_BYTES);
    return stream;
}

/* --- opening --- */

/* Opens a separate open file description, so that O_NONBLOCK does not affect others who share it;
 * if that fails, a copy of the descriptor. */
static int open_again(int fd)
{
    char path[32];
    struct stat status;
    int again = -1;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || isatty(fd) == 1))
        again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static bool is_stdout(const struct output *o)
{
    return strcmp(o->name, "-") == 0;
}

static int open_stdout(void)
{
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        return open_again(STDOUT_FILENO);
    errno = EBADF;
    return -1;
}

/* Waits until a FIFO has a reader. */
static int open_file(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);

    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK); /* no effect on a regular file */
    return fd;
}

/* Of the character devices, only in a terminal do two outputs mix. */
static bool is_same_file(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino && (!S_ISCHR(one.st_mode) || isatty(a) == 1);
}

bool output_is(const char *name, const char *other)
{
    struct stat one, two;

    return stat(name, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

bool output_is_stdout(const struct output *o)
{
    return o->fd >= 0 && (is_stdout(o) || is_same_file(STDOUT_FILENO, o->fd));
}

static int register_output(const struct output *o)
{
    size_t i = 0;

    for (; i < MOST_OUTPUTS && opened[i] != NULL; i++)
        if (is_same_file(opened[i]->fd, o->fd))
            return log_error(
                "--%s: '%s' is also the file of --%s: expected a different file for each",
                o->option, o->name, opened[i]->option);
    if (i < MOST_OUTPUTS)
        opened[i] = o;
    return 0;
}

static void forget_output(const struct output *o)
{
    size_t n = 0;

    for (size_t i = 0; i < MOST_OUTPUTS; i++)
        if (opened[i] != NULL && opened[i] != o)
            opened[n++] = opened[i];
    while (n < MOST_OUTPUTS)
        opened[n++] = NULL;
}

static void release(struct output *o)
{
    if (o->stream != NULL)
        fclose(o->stream);
    o->stream = NULL;
    o->fd = -1;
}

int output_open(struct output *o, const char *option, const char *name)
{
    *o = (struct output){.option = option, .name = name, .fd = -1};
    o->fd = is_stdout(o) ? open_stdout() : open_file(name);
    if (o->fd < 0 && is_stdout(o) && errno == EBADF)
        return log_error("--%s: cannot write '-': stdout is closed", option);
    if (o->fd < 0)
        return log_error("--%s: cannot write '%s': %s", option, name, strerror(errno));
    if (register_output(o) == 0) {
        o->stream = open_stream(o);
        if (o->stream != NULL)
            return 0;
        log_error("out of memory");
        forget_output(o);
    }
    close(o->fd);
    o->fd = -1;
    return -1;
}

int output_begin(struct output *o)
{
    struct stat status;

    if (o->fd < 0 || is_stdout(o) || fstat(o->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return ftruncate(o->fd, 0);
}

/* --- ending --- */

int output_flush(struct output *o)
{
    int error;

    if (fflush(o->stream) == 0 && o->error == 0)
        return 0;
    error = o->error;
    o->error = 0;
    __fpurge(o->stream);
    clearerr(o->stream);
    return log_error("--%s: could not write '%s': %s", o->option, o->name,
                     error == EAGAIN ? "the reader does not read" : strerror(error));
}

int output_close(struct output *o, bool is_document)
{
    int status, fd;

    if (o->stream == NULL)
        return 0;
    status = output_flush(o);
    if (status != 0 && is_document)
        (void)output_begin(o);
    forget_output(o);
    fd = o->fd;
    release(o);
    if (close(fd) != 0 && status == 0)
        status = log_error("--%s: could not write '%s': %s", o->option, o->name, strerror(errno));
    return status;
}

int output_flush_stdout(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    return log_error("cannot write to stdout: %s", strerror(errno));
}

/* --- stderr --- */

void output_take_stderr(void)
{
    const int again = open_again(STDERR_FILENO);
    FILE *stream;

    /* the number stays the same: workers keep it in their own tables */
    if (again >= 0) {
        (void)dup2(again, STDERR_FILENO);
        close(again);
    }
    messages.fd = STDERR_FILENO;
    stream = open_stream(&messages);
    if (stream != NULL)
        stderr = stream; /* a variable in glibc: all parts print messages to it */
}

void output_drop_stderr(bool drop)
{
    atomic_store(&drops, drop);
}
