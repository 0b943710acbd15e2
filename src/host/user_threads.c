/* SPDX-License-Identifier: MIT
 * user_threads: see host/user_threads.h. */
#include "host/user_threads.h"

#include "host/proc_number.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>

static uint64_t threads_of(const char *proc, const char *process, uint64_t user)
{
    char path[256];
    uint64_t n;

    snprintf(path, sizeof path, "%s/%.20s/status", proc, process);
    if (proc_number(path, "Uid:", 0) != user)
        return 0;
    n = proc_number(path, "Threads:", 0);
    return n != PROC_NUMBER_UNKNOWN ? n : 0; /* unknown: it has ended meanwhile */
}

uint64_t user_threads_count(const char *proc, uint64_t user)
{
    DIR *directory = opendir(proc);
    const struct dirent *entry;
    uint64_t n = 0;

    if (directory == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            n += threads_of(proc, entry->d_name, user);
    closedir(directory);
    return n;
}
