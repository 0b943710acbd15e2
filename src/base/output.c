/* SPDX-License-Identifier: MIT
 * output: see base/output.h. */
#include "base/output.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/reopen.h"
#include "base/units.h"
#include "base/writing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 12, STREAM_BYTES = 1 << 16 };

/* The open outputs, to detect duplicates. */
static const struct output *opened[MOST_OUTPUTS];

/* --- writing --- */

int output_fd(struct output *o)
{
    if (o->fd < 0 && o->replacement != NULL)
        o->fd = replacement_begin(o->replacement);
    return o->fd;
}

/* Drops what cannot be written: stdio would keep it and retry forever. */
static ssize_t write_stream(void *cookie, const char *text, size_t n_bytes)
{
    struct output *o = cookie;

    if (o->error == 0 && output_fd(o) < 0)
        o->error = errno;
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

/* Writes what was put, as long as it may wait. */
static void write_backlog(struct output *o, writing_may_wait *may_wait)
{
    const int error = o->error != 0 ? o->error : backlog_write(&o->backlog, o->fd, may_wait);

    if (error == 0 || (error == EAGAIN && may_wait == writing_never))
        return;
    backlog_drop(&o->backlog);
    o->error = error;
}

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

static bool is_stdout(const struct output *o)
{
    return strcmp(o->name, "-") == 0;
}

static int open_stdout(void)
{
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);

    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        return writing_open_again(STDOUT_FILENO);
    errno = EBADF;
    return -1;
}

static int open_file(const struct output *o)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC;
    struct stat status;
    int fd = open(o->name, flags | O_NONBLOCK, 0666);

    if (fd < 0 && errno == ENXIO && stat(o->name, &status) == 0 && S_ISFIFO(status.st_mode)) {
        log_error("--%s: waiting for a reader of '%s'", o->option, o->name);
        fd = open(o->name, flags, 0666);
        if (fd >= 0)
            (void)fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
    }
    return fd;
}

static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Of the character devices, only in a terminal do two outputs mix. */
static bool do_mix(const struct stat *one, const struct stat *other, int fd)
{
    return is_same_file(one, other) && (!S_ISCHR(one->st_mode) || isatty(fd) == 1);
}

bool output_is_stdout(const struct output *o)
{
    struct stat own, out;

    return o->fd >= 0 &&
           (is_stdout(o) || (fstat(o->fd, &own) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
                             do_mix(&own, &out, o->fd)));
}

/* The file that it writes or will replace. */
static int status_of(const struct output *o, struct stat *status)
{
    return o->replacement != NULL ? stat(o->replacement->file, status) : fstat(o->fd, status);
}

static bool is_same_output(const struct output *a, const struct output *b)
{
    struct stat one, other;

    if (a->replacement != NULL && b->replacement != NULL &&
        strcmp(a->replacement->file, b->replacement->file) == 0)
        return true;
    return status_of(a, &one) == 0 && status_of(b, &other) == 0 && do_mix(&one, &other, a->fd);
}

/* Whether the temporary file of one is the other's file. */
static bool is_temporary(const struct output *of, const struct output *other)
{
    const char *temporary = of->replacement != NULL ? of->replacement->temporary : NULL;
    struct stat one, two;

    if (temporary == NULL)
        return false;
    if (other->replacement != NULL && strcmp(temporary, other->replacement->file) == 0)
        return true;
    return stat(temporary, &one) == 0 && status_of(other, &two) == 0 && is_same_file(&one, &two);
}

/* Whether it, or its temporary file, is an input. */
static bool is_input(const struct output *o)
{
    struct stat status;

    return (status_of(o, &status) == 0 && inputs_have(&status)) ||
           (o->replacement != NULL && inputs_have_file(o->replacement->temporary));
}

static int register_output(const struct output *o)
{
    size_t i = 0;

    if (is_input(o))
        return log_error("--%s: '%s' is one of the input files", o->option, o->name);
    for (; i < MOST_OUTPUTS && opened[i] != NULL; i++) {
        if (is_same_output(opened[i], o))
            return log_error(
                "--%s: '%s' is also the file of --%s: expected a different file for each",
                o->option, o->name, opened[i]->option);
        if (is_temporary(opened[i], o) || is_temporary(o, opened[i]))
            return log_error("--%s: '%s' conflicts with --%s '%s': one is the temporary file of "
                             "the other",
                             o->option, o->name, opened[i]->option, opened[i]->name);
    }
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

/* Returns 0, or the errno of close(2). */
static int release(struct output *o)
{
    int error = 0;

    forget_output(o);
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

static int open_output(struct output *o)
{
    if (o->name == NULL)
        return 0;
    if (o->is_document && !is_stdout(o))
        o->replacement = replacement_of(o->name);
    if (o->replacement == NULL)
        o->fd = is_stdout(o) ? open_stdout() : open_file(o);
    if (o->replacement == NULL && o->fd < 0)
        return errno == EBADF && is_stdout(o)
                   ? log_error("--%s: cannot write '-': stdout is closed", o->option)
                   : log_error("--%s: cannot write '%s': %s", o->option, o->name, strerror(errno));
    if (register_output(o) == 0) {
        o->stream = open_stream(o);
        if (o->stream != NULL)
            return 0;
        log_error("out of memory");
    }
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

    if (o->fd < 0 || is_stdout(o) || fstat(o->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return ftruncate(o->fd, 0);
}

int output_begin(const struct output *o)
{
    if (empty(o) != 0)
        return log_error("--%s: cannot write '%s': %s", o->option, o->name, strerror(errno));
    return 0;
}

void output_reopen(struct output *o, const char *head)
{
    if (o->fd < 0 || is_stdout(o)) /* not open, or a file that is replaced anyway */
        return;
    if (fflush(o->stream) != 0 || reopen(o->fd, o->name, head) != 0)
        log_error("--%s: cannot reopen '%s': %s", o->option, o->name, strerror(errno));
}

/* --- ending --- */

static const char *text_of(int error)
{
    return error == EAGAIN ? "the reader does not read" : strerror(error);
}

static int log_failure(const struct output *o, int error)
{
    char lost[64] = "";

    if (o->backlog.n_lines_lost > 0)
        snprintf(lost, sizeof lost, "; %" PRIu64 " %s missing", o->backlog.n_lines_lost,
                 units_noun(o->backlog.n_lines_lost, "line is", "lines are"));
    return log_error("--%s: could not write '%s': %s%s", o->option, o->name, text_of(error), lost);
}

/* Puts a complete document in its place.  Returns 0 or an errno. */
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

int output_flush_stdout(void)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    return log_error("cannot write to stdout: %s", strerror(errno));
}
