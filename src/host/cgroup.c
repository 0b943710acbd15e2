/* SPDX-License-Identifier: MIT
 * cgroup: see host/cgroup.h. */
#include "host/cgroup.h"

#include "host/watch/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Version 1 expresses "no limit" as the largest multiple of the page size that fits in a long. */
#define V1_UNLIMITED (1ull << 62)

enum { STAT_BYTES = 8192, MESSAGE_BYTES = 115 };

/* --- reading --- */

static int open_file(const struct cgroup_group *group, const char *name)
{
    char path[CGROUP_PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%s", group->path, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the whole file as a string.  Returns whether that succeeded. */
static bool read_text(int fd, char *text, size_t room)
{
    const ssize_t n = pread(fd, text, room - 1, 0);

    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

/* CGROUP_UNLIMITED for "max", or if unreadable. */
static uint64_t read_number(int fd)
{
    char text[64], *end;
    uint64_t value;

    if (!read_text(fd, text, sizeof text))
        return CGROUP_UNLIMITED;
    errno = 0;
    value = strtoull(text, &end, 10);
    return end == text || text[0] == '-' || errno != 0 || value >= V1_UNLIMITED ? CGROUP_UNLIMITED
                                                                                : value;
}

/* 0 if missing. */
static uint64_t stat_value(const char *text, const char *name)
{
    uint64_t value = 0;

    (void)cgroup_stat_find(text, name, &value);
    return value;
}

/* Excludes dirty pages, which must be written first, and mapped ones. */
uint64_t cgroup_limit_cache_bytes(const struct cgroup_limit *l)
{
    static const char *const names[2][5] = {
        {"total_inactive_file", "total_active_file", "total_dirty", "total_writeback",
         "total_mapped_file"},
        {"inactive_file", "active_file", "file_dirty", "file_writeback", "file_mapped"},
    };
    const char *const *name = names[l->is_v2];
    char text[STAT_BYTES];
    uint64_t cache, pinned;

    if (l->stat_fd < 0 || !read_text(l->stat_fd, text, sizeof text))
        return 0;
    cache = stat_value(text, name[0]) + stat_value(text, name[1]);
    pinned = stat_value(text, name[2]) + stat_value(text, name[3]) + stat_value(text, name[4]);
    return cache > pinned ? cache - pinned : 0;
}

struct cgroup_reading cgroup_limit_read(const struct cgroup_limit *l)
{
    struct cgroup_reading r = {.limit_bytes = read_number(l->limit_fd)};
    const uint64_t used = read_number(l->used_fd);

    if (r.limit_bytes == CGROUP_UNLIMITED || used == CGROUP_UNLIMITED)
        return (struct cgroup_reading){.limit_bytes = CGROUP_UNLIMITED};
    r.used_bytes = used;
    return r;
}

uint64_t cgroup_reading_left(const struct cgroup_reading *r)
{
    const uint64_t used = r->used_bytes > r->cache_bytes ? r->used_bytes - r->cache_bytes : 0;

    if (r->limit_bytes == CGROUP_UNLIMITED)
        return CGROUP_UNLIMITED;
    return r->limit_bytes > used ? r->limit_bytes - used : 0;
}

/* --- memory --- */

const char *cgroup_path_end(const char *path)
{
    const size_t length = strlen(path);
    const char *end = length > MESSAGE_BYTES ? strchr(path + length - MESSAGE_BYTES, '/') : NULL;

    return end != NULL ? end + 1 : path;
}

static void close_limit(const struct cgroup_limit *l)
{
    close(l->limit_fd);
    if (l->used_fd >= 0)
        close(l->used_fd);
    if (l->stat_fd >= 0)
        close(l->stat_fd);
}

static void add_limit(struct cgroup_memory *m, const struct cgroup_group *group, const char *limit,
                      const char *used, const char *stat)
{
    struct cgroup_limit *l = &m->limits[m->n];

    if (m->n == CGROUP_MOST_LIMITS)
        return;
    l->limit_fd = open_file(group, limit);
    if (l->limit_fd < 0)
        return;
    l->used_fd = open_file(group, used);
    l->stat_fd = stat != NULL ? open_file(group, stat) : -1;
    l->is_v2 = group->is_v2;
    snprintf(l->path, sizeof l->path, "%.440s/%s", group->path, limit);
    if (cgroup_limit_read(l).limit_bytes == CGROUP_UNLIMITED)
        close_limit(l);
    else
        m->n++;
}

static void add_memory_limits(void *context, const struct cgroup_group *group)
{
    if (group->is_v2) {
        add_limit(context, group, "memory.max", "memory.current", "memory.stat");
        add_limit(context, group, "memory.high", "memory.current", "memory.stat");
    } else {
        add_limit(context, group, "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat");
        add_limit(context, group, "memory.kmem.limit_in_bytes", "memory.kmem.usage_in_bytes", NULL);
    }
}

void cgroup_memory_open(struct cgroup_memory *m, const char *proc)
{
    m->n = 0;
    cgroup_find_each(proc, "memory", add_memory_limits, m);
}

void cgroup_memory_close(struct cgroup_memory *m)
{
    for (unsigned i = 0; i < m->n; i++)
        close_limit(&m->limits[i]);
    m->n = 0;
}

/* --- processes and threads --- */

static uint64_t read_file(const struct cgroup_group *group, const char *name)
{
    const int fd = open_file(group, name);
    uint64_t value;

    if (fd < 0)
        return CGROUP_UNLIMITED;
    value = read_number(fd);
    close(fd);
    return value;
}

static void take_pids(void *context, const struct cgroup_group *group)
{
    struct cgroup_pids *tightest = context;
    const uint64_t limit = read_file(group, "pids.max"), used = read_file(group, "pids.current");

    if (limit == CGROUP_UNLIMITED || used == CGROUP_UNLIMITED)
        return;
    /* more may run than a limit that was set later allows */
    if (tightest->limit != CGROUP_UNLIMITED && limit + tightest->used >= tightest->limit + used)
        return;
    tightest->limit = limit;
    tightest->used = used;
    snprintf(tightest->path, sizeof tightest->path, "%.440s/pids.max", group->path);
}

struct cgroup_pids cgroup_pids_read(const char *proc)
{
    struct cgroup_pids tightest = {.limit = CGROUP_UNLIMITED};

    cgroup_find_each(proc, "pids", take_pids, &tightest);
    return tightest;
}

/* --- CPU --- */

/* Parses one file; returns how many of the two numbers it has. */
static int read_two(const struct cgroup_group *group, const char *name, int64_t *first,
                    int64_t *second)
{
    const int fd = open_file(group, name);
    char text[64];
    int n = 0;

    if (fd < 0)
        return 0;
    if (read_text(fd, text, sizeof text))
        n = sscanf(text, "%" SCNd64 " %" SCNd64, first, second);
    close(fd);
    return n;
}

static void take_quota(void *context, const struct cgroup_group *group)
{
    uint64_t *least = context, milli;
    int64_t quota_us = -1, period_us = 0, none;

    if (group->is_v2) {
        if (read_two(group, "cpu.max", &quota_us, &period_us) != 2)
            return; /* "max 100000" */
    } else if (read_two(group, "cpu.cfs_quota_us", &quota_us, &none) != 1 ||
               read_two(group, "cpu.cfs_period_us", &period_us, &none) != 1) {
        return;
    }
    if (quota_us <= 0 || period_us <= 0) /* -1: none */
        return;
    milli = (uint64_t)quota_us * 1000 / (uint64_t)period_us;
    if (milli < *least)
        *least = milli;
}

uint64_t cgroup_cpu_quota_milli(const char *proc)
{
    uint64_t least = CGROUP_UNLIMITED;

    cgroup_find_each(proc, "cpu", take_quota, &least);
    return least;
}
