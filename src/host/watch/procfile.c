/* SPDX-License-Identifier: MIT
 * procfile: see host/watch/procfile.h. */
#include "host/watch/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int procfile_read(char *text, size_t room, const char *format, ...)
{
    char path[PATH_MAX];
    ssize_t n, total = 0;
    va_list arguments;
    int fd, error;

    text[0] = '\0';
    va_start(arguments, format);
    n = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while ((n = read(fd, text + total, room - 1 - (size_t)total)) > 0)
        total += n;
    error = errno;
    close(fd);
    text[n < 0 ? 0 : total] = '\0';
    errno = error;
    return n < 0 ? -1 : 0;
}
