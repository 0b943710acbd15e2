/* SPDX-License-Identifier: MIT
 * reopen: see base/reopen.h. */
#include "base/reopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4096 };

/* Returns the end of the last whole line of the first n_bytes, or -1 if they cannot be read. */
static off_t end_of_lines(int fd, off_t n_bytes)
{
    char block[BLOCK_BYTES];

    while (n_bytes > 0) {
        const size_t n = (size_t)(n_bytes < BLOCK_BYTES ? n_bytes : BLOCK_BYTES);
        const char *newline;

        if (pread(fd, block, n, n_bytes - (off_t)n) != (ssize_t)n)
            return -1;
        n_bytes -= (off_t)n;
        newline = memrchr(block, '\n', n);
        if (newline != NULL)
            return n_bytes + (newline + 1 - block);
    }
    return 0;
}

void reopen_trim(int fd)
{
    char path[32];
    struct stat status;
    off_t end = -1;
    int in;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* it may have been renamed */
    in = open(path, O_RDONLY | O_CLOEXEC);
    if (in >= 0) {
        end = end_of_lines(in, status.st_size);
        close(in);
    }
    if (end >= 0 && end < status.st_size && ftruncate(fd, end) != 0)
        return; /* the part stays */
}

static int write_head(int fd, const char *head)
{
    struct stat status;
    size_t n_bytes = head != NULL ? strlen(head) : 0;
    ssize_t n;

    if (n_bytes == 0 || fstat(fd, &status) != 0 || status.st_size > 0)
        return 0;
    n = write(fd, head, n_bytes);
    if (n == (ssize_t)n_bytes)
        return 0;
    if (n >= 0 && ftruncate(fd, 0) == 0) /* only part of it was written */
        errno = ENOSPC;
    return -1;
}

int reopen(int fd, const char *name, const char *head)
{
    struct stat status;
    int error, new_fd;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    new_fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
    if (new_fd < 0)
        return -1;
    /* atomic: a row is written by one call, to the old or to the new file */
    error = write_head(new_fd, head) == 0 && dup3(new_fd, fd, O_CLOEXEC) >= 0 ? 0 : errno;
    close(new_fd);
    errno = error;
    return error == 0 ? 0 : -1;
}
