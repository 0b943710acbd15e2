/* SPDX-License-Identifier: MIT
 * output: see base/output.h. */
#include "base/output.h"

#include "base/log.h"
#include "base/outputs.h"
#include "base/reopen.h"
#include "base/shutdown.h"
#include "base/units.h"
#include "base/writing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STREAM_BYTES = 1 << 16 };

#define READER_WAIT_NS (10 * UNITS_NS_PER_MS)

/* --- writing --- */

int output_fd(struct output *o)
{
    if (o->fd < 0 && o->replacement != NULL)
        o->fd = replacement_begin(o->replacement);
    return o->fd;
}

/* Writes the text that was put, for as long as it may wait. */
static void write_backlog(struct output *o, writing_may_wait *may_wait)
{
    const int error = o->error != 0 ? o->error : backlog_write(&o->backlog, o->fd, may_wait);

    if (error == 0 || (error == EAGAIN && may_wait == writing_never))
        return;
    backlog_drop(&o->backlog);
    o->error = error;
}

/* Writes the text after all text that was put.  Drops what cannot be written: stdio would keep it
 * and retry forever. */
static ssize_t write_stream(void *cookie, const char *text, size_t n_bytes)
{
    struct output *o = cookie;

    if (o->error == 0 && output_fd(o) < 0)
        o->error = errno;
    write_backlog(o, writing_until_shutdown);
    if (o->error == 0)
        (void)writing_all(o->fd, text, n_bytes, writing_until_shutdown, &o->error);
    return o->error == 0 ? (ssize_t)n_bytes : 0;
}

static FILE *open_stream(struct output *o)
{
    FILE *stream = fopencookie(o, "w", (cookie_io_functions_t){.write = write_stream});

    if (stream != NULL)
        (void)setvbuf(stream, NULL, _IOFBF, STREAM_BYTES);
    return stream;
}

/* --- putting, without waiting --- */

bool output_put_rest(struct output *o)
{
    write_backlog(o, writing_never);
    return o->backlog.n_bytes == 0;
}

void output_put(struct output *o, char *text, size_t n_bytes)
{
    backlog_add(&o->backlog, text, n_bytes);
    write_backlog(o, writing_never);
}

static bool is_regular(const struct output *o)
{
    struct stat status;

    return o->replacement != NULL || (fstat(o->fd, &status) == 0 && S_ISREG(status.st_mode));
}

int output_put_document(struct output *o, char *text, size_t n_bytes)
{
    int failed;

    if (!is_regular(o)) {
        output_put(o, text, n_bytes);
        return 0;
    }
    failed = output_begin(o);
    (void)fwrite(text, 1, n_bytes, o->stream);
    free(text);
    return output_flush(o) != 0 ? -1 : failed;
}

/* --- opening --- */

static int open_stdout(void)
{
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        return writing_open_again(STDOUT_FILENO);
    errno = EBADF;
    return -1;
}

static int open_now(const struct output *o, int flags)
{
    return open(o->name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | flags, 0666);
}

/* Returns a descriptor, or -1 with errno; EINTR: the program was asked to end. */
static int await_reader(const struct output *o)
{
    const struct timespec wait = {.tv_nsec = READER_WAIT_NS};
    int fd;

    log_error("--%s: waiting for a reader of '%s'", o->option, o->name);
    while ((fd = open_now(o, 0)) < 0 && errno == ENXIO && !shutdown_was_requested())
        nanosleep(&wait, NULL);
    if (fd < 0 && errno == ENXIO)
        errno = EINTR;
    return fd;
}

static int open_file(struct output *o)
{
    struct stat status;
    int fd = open_now(o, 0);

    if (fd < 0 && errno == ENOENT) {
        fd = open_now(o, O_CREAT);
        o->is_new = fd >= 0;
    }
    if (fd < 0 && errno == ENXIO && stat(o->name, &status) == 0 && S_ISFIFO(status.st_mode))
        return await_reader(o);
    return fd;
}

/* Returns 0, or the errno of close(2). */
static int release(struct output *o)
{
    int error = 0;

    outputs_remove(o);
    backlog_drop(&o->backlog);
    if (o->stream != NULL)
        fclose(o->stream);
    if (o->fd >= 0 && close(o->fd) != 0)
        error = errno;
    replacement_free(o->replacement);
    o->stream = NULL;
    o->replacement = NULL;
    o->fd = -1;
    return error;
}

/* Removes the file if it is new and still empty; not a link through which it was created. */
static void remove_new(const struct output *o)
{
    char *path = o->is_new ? realpath(o->name, NULL) : NULL;
    struct stat own, named;

    if (path != NULL && fstat(o->fd, &own) == 0 && own.st_size == 0 && lstat(path, &named) == 0 &&
        own.st_dev == named.st_dev && own.st_ino == named.st_ino)
        (void)unlink(path);
    free(path);
}

static int open_output(struct output *o)
{
    if (o->name == NULL)
        return 0;
    if (o->is_document && !output_is_named_stdout(o))
        o->replacement = replacement_of(o->name);
    if (o->replacement == NULL)
        o->fd = output_is_named_stdout(o) ? open_stdout() : open_file(o);
    if (o->replacement == NULL && o->fd < 0)
        return errno == EBADF && output_is_named_stdout(o)
                   ? log_error("--%s: stdout is closed", o->option)
                   : log_error("--%s: cannot write '%s': %s", o->option, output_shown_name(o),
                               strerror(errno));
    if (outputs_add(o) == 0) {
        o->stream = open_stream(o);
        if (o->stream != NULL)
            return 0;
        log_error("out of memory");
    }
    remove_new(o);
    (void)release(o);
    return -1;
}

int output_open_document(struct output *o, const char *option, const char *name)
{
    *o = (struct output){.option = option, .name = name, .fd = -1, .is_document = true};
    return open_output(o);
}

int output_open_log(struct output *o, const char *option, const char *name)
{
    *o = (struct output){.option = option, .name = name, .fd = -1};
    return open_output(o);
}

/* Returns 0, or -1 with errno. */
static int empty(const struct output *o)
{
    struct stat status;

    if (o->fd < 0 || output_is_named_stdout(o) || fstat(o->fd, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return 0;
    return ftruncate(o->fd, 0);
}

int output_begin(const struct output *o)
{
    if (empty(o) != 0)
        return log_error("--%s: cannot write '%s': %s", o->option, o->name, strerror(errno));
    return 0;
}

/* --- starting over and ending --- */

static const char *text_of(int error)
{
    return error == EAGAIN ? "the reader has stalled" : strerror(error);
}

static int log_failure(const struct output *o, int error)
{
    char lost[64] = "";

    if (o->backlog.n_lines_lost > 0)
        snprintf(lost, sizeof lost, "; %" PRIu64 " %s missing", o->backlog.n_lines_lost,
                 units_noun(o->backlog.n_lines_lost, "line is", "lines are"));
    return log_error("--%s: could not write '%s': %s%s", o->option, output_shown_name(o),
                     text_of(error), lost);
}

/* Clears the error, and discards what stdio still holds. */
static void forget_failure(struct output *o)
{
    o->error = 0;
    o->backlog.n_lines_lost = 0;
    __fpurge(o->stream);
    clearerr(o->stream);
}

bool output_is_rotated(const struct output *o)
{
    return o->fd >= 0 && o->replacement == NULL && !output_is_named_stdout(o) && is_regular(o);
}

void output_fail(struct output *o, int error)
{
    o->error = error;
}

void output_say_lost(struct output *o, int error, const char *what, bool reopens)
{
    if (error == 0 || o->said_lost)
        return;
    o->said_lost = true;
    log_error("--%s: cannot write '%s': %s; %s are lost%s", o->option, output_shown_name(o),
              strerror(error), what, reopens && !output_is_named_stdout(o) ? " until SIGHUP" : "");
}

void output_reopen(struct output *o, const char *head)
{
    if (o->fd < 0 || output_is_named_stdout(o)) /* not open, or a file that is replaced anyway */
        return;
    (void)fflush(o->stream);
    o->said_lost = false;
    if (o->error != 0) {
        (void)log_failure(o, o->error);
        forget_failure(o);
        reopen_trim(o->fd);
        o->is_incomplete = true;
    }
    if (reopen(o->fd, o->name, head) != 0)
        log_error("--%s: cannot reopen '%s': %s", o->option, o->name, strerror(errno));
}

/* Makes a complete document replace the file.  Returns 0 or an errno. */
static int complete(struct output *o)
{
    int error = 0;

    if (o->replacement == NULL || o->fd < 0)
        return 0;
    if (replacement_end(o->replacement, o->fd) != 0)
        error = errno;
    o->fd = -1;
    return error;
}

static void discard(struct output *o)
{
    if (o->replacement == NULL)
        (void)empty(o);
    else if (o->fd >= 0)
        replacement_cancel(o->replacement, o->fd);
    if (o->replacement != NULL)
        o->fd = -1;
}

/* Returns 0 or an errno. */
static int write_out(struct output *o)
{
    int error;

    write_backlog(o, writing_until_shutdown);
    if (fflush(o->stream) == 0 && o->error == 0)
        return o->backlog.n_lines_lost == 0 ? 0 : EAGAIN;
    error = o->error;
    o->error = 0;
    __fpurge(o->stream);
    clearerr(o->stream);
    return error;
}

int output_flush(struct output *o)
{
    int error = write_out(o);

    if (error == 0 && o->is_document)
        error = complete(o);
    else if (o->is_document && o->replacement != NULL)
        discard(o);
    if (error == 0)
        return 0;
    (void)log_failure(o, error);
    o->backlog.n_lines_lost = 0;
    return -1;
}

int output_close(struct output *o)
{
    int status, error;

    if (o->stream == NULL)
        return 0;
    status = output_flush(o);
    if (status != 0 && o->is_document)
        discard(o);
    if (o->is_incomplete)
        status = -1;
    error = release(o);
    return error != 0 && status == 0 ? log_failure(o, error) : status;
}

void output_abandon(struct output *o)
{
    if (o->stream == NULL)
        return;
    __fpurge(o->stream);
    discard(o);
    (void)release(o);
}

void output_withdraw(struct output *o)
{
    if (o->stream == NULL)
        return;
    remove_new(o);
    (void)release(o);
}

int output_flush_stdout(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    return log_error("cannot write to stdout: %s", strerror(errno));
}
