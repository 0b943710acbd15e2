/* SPDX-License-Identifier: MIT
 * process: see host/watch/process.h. */
#include "host/watch/process.h"

#include "host/watch/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, ROLLUP_BYTES = 4096, PATH_BYTES = 128 };

/* The name in () may contain any character, ')' included. */
bool process_parse(struct process *p, const char *stat, uint64_t ticks_per_s)
{
    const char *begin = strchr(stat, '('), *end = strrchr(stat, ')');
    uint64_t user, system, started;
    int64_t user_of_children, system_of_children;
    int pid, parent, n_threads;
    char state;

    if (begin == NULL || end == NULL || end < begin || sscanf(stat, "%d", &pid) != 1 ||
        sscanf(end,
               ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNd64
               " %" SCNd64 " %*d %*d %d %*d %" SCNu64,
               &state, &parent, &user, &system, &user_of_children, &system_of_children, &n_threads,
               &started) != 8)
        return false;
    *p = (struct process){.pid = pid, .parent = parent, .started_ticks = started};
    snprintf(p->name, sizeof p->name, "%.*s", (int)(end - begin - 1), begin + 1);
    /* other threads may outlive the first one */
    p->has_ended = state == 'X' || (state == 'Z' && n_threads <= 1);
    p->user_of_children_us = (uint64_t)user_of_children * 1000000 / ticks_per_s;
    p->system_of_children_us = (uint64_t)system_of_children * 1000000 / ticks_per_s;
    p->user_us = user * 1000000 / ticks_per_s + p->user_of_children_us;
    p->system_us = system * 1000000 / ticks_per_s + p->system_of_children_us;
    return true;
}

int process_read(struct process *p, const char *proc, int pid)
{
    char text[STAT_BYTES];

    if (procfile_read(text, sizeof text, "%s/%d/stat", proc, pid) != 0)
        return -1;
    if (process_parse(p, text, (uint64_t)sysconf(_SC_CLK_TCK)))
        return 0;
    errno = EPROTO;
    return -1;
}

uint64_t process_rss_bytes(const char *proc, int pid)
{
    char text[STAT_BYTES];
    uint64_t pages;

    if (procfile_read(text, sizeof text, "%s/%d/statm", proc, pid) != 0 ||
        sscanf(text, "%*u %" SCNu64, &pages) != 1)
        return PROCESS_UNKNOWN;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t process_pss_bytes(const char *proc, int pid)
{
    char text[ROLLUP_BYTES];
    const char *line;

    if (procfile_read(text, sizeof text, "%s/%d/smaps_rollup", proc, pid) != 0 ||
        (line = strstr(text, "\nPss:")) == NULL)
        return PROCESS_UNKNOWN;
    return strtoull(line + strlen("\nPss:"), NULL, 10) * 1024;
}

static uint64_t count_entries(const char *path)
{
    const struct dirent *entry;
    DIR *directory = opendir(path);
    uint64_t n = 0;

    if (directory == NULL)
        return PROCESS_UNKNOWN;
    while ((entry = readdir(directory)) != NULL)
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}

static uint64_t count_fds(const char *proc, int pid, int thread)
{
    char path[PATH_BYTES];
    struct stat directory;

    snprintf(path, sizeof path, "%s/%d/task/%d/fd", proc, pid, thread);
    if (stat(path, &directory) != 0)
        return PROCESS_UNKNOWN;
    return directory.st_size > 0 ? (uint64_t)directory.st_size : count_entries(path);
}

/* Also true if unknown. */
static bool share_fds(int thread, int other)
{
    return syscall(SYS_kcmp, thread, other, KCMP_FILES, 0, 0) <= 0;
}

uint64_t process_fds(const char *proc, int pid)
{
    uint64_t n = count_fds(proc, pid, pid), n_more;
    const struct dirent *entry;
    char path[PATH_BYTES];
    DIR *threads;
    int thread;

    snprintf(path, sizeof path, "%s/%d/task", proc, pid);
    if (n == PROCESS_UNKNOWN || (threads = opendir(path)) == NULL)
        return n;
    while ((entry = readdir(threads)) != NULL) {
        thread = (int)strtol(entry->d_name, NULL, 10); /* 0: "." or ".." */
        if (thread == 0 || thread == pid || share_fds(pid, thread))
            continue;
        n_more = count_fds(proc, pid, thread);
        n += n_more != PROCESS_UNKNOWN ? n_more : 0; /* it has ended */
    }
    closedir(threads);
    return n;
}

bool process_shares_network(const char *proc, int pid)
{
    char path[PATH_BYTES];
    struct stat own, its;

    snprintf(path, sizeof path, "%s/self/ns/net", proc);
    if (stat(path, &own) != 0)
        return true;
    snprintf(path, sizeof path, "%s/%d/ns/net", proc, pid);
    return stat(path, &its) != 0 || (own.st_dev == its.st_dev && own.st_ino == its.st_ino);
}
