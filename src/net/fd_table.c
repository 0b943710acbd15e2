/* SPDX-License-Identifier: MIT
 * fd_table: see net/fd_table.h. */
#include "net/fd_table.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls close_range(2), even if the C library has no function for it. */
static int close_by_range(unsigned first, unsigned last)
{
#if defined TCPSCALER_HAVE_CLOSE_RANGE
    return close_range(first, last, 0);
#elif defined SYS_close_range
    return (int)syscall(SYS_close_range, first, last, 0);
#else
    (void)first, (void)last;
    return -1;
#endif
}

/* Closes those that are open.  Returns 0, or -1 if they are unknown. */
static int close_by_list(unsigned first, unsigned last)
{
    DIR *directory = opendir("/proc/thread-self/fd");
    const struct dirent *entry;

    if (directory == NULL)
        return -1;
    while ((entry = readdir(directory)) != NULL) {
        const int fd = atoi(entry->d_name); /* 0: "." and ".." */

        if (fd > 0 && (unsigned)fd >= first && (unsigned)fd <= last && fd != dirfd(directory))
            close(fd);
    }
    closedir(directory);
    return 0;
}

/* Before Linux 5.9, and in some containers, there is no close_range(2).  Only without /proc, closes
 * every number up to the limit, which may be a billion. */
static void close_all(unsigned first, unsigned last)
{
    const long n = sysconf(_SC_OPEN_MAX);

    if (close_by_range(first, last) == 0 || close_by_list(first, last) == 0)
        return;
    for (unsigned fd = first; fd <= last && (long)fd < n; fd++)
        close((int)fd);
}

/* Returns the lowest fd to keep that is not below `first`, or -1. */
static int next_kept(int own, const int *keep, uint32_t n, int first)
{
    int next = own >= first ? own : -1;

    for (uint32_t i = 0; i < n; i++)
        if (keep[i] >= first && (next < 0 || keep[i] < next))
            next = keep[i];
    return next;
}

void fd_table_keep_only(int own, const int *keep, uint32_t n)
{
    int first = STDERR_FILENO + 1, kept;

    while ((kept = next_kept(own, keep, n, first)) >= 0) {
        if (kept > first)
            close_all((unsigned)first, (unsigned)kept - 1);
        first = kept + 1;
    }
    close_all((unsigned)first, ~0u);
}
