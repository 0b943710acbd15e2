/* SPDX-License-Identifier: MIT
 * cgroup: see host/cgroup.h. */
#include "host/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Version 1 expresses "no limit" as the largest multiple of the page size that fits in a long. */
#define V1_UNLIMITED (1ull << 62)

enum { LINE_BYTES = 4096, STAT_BYTES = 8192, MOST_GENERATIONS = 64, MESSAGE_BYTES = 115 };

/* A group's directory; the first mount_length bytes are its hierarchy's mount point. */
struct group {
    char path[CGROUP_PATH_BYTES];
    size_t mount_length;
    bool is_v2;
};

typedef void on_group(void *context, const struct group *group);

/* --- finding the groups --- */

static bool has_item(const char *list, const char *item)
{
    const size_t length = strlen(item);

    for (const char *at = list; at != NULL; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, item, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Parses a line of mountinfo, proc_pid_mountinfo(5); false: not a mount of this hierarchy. */
static bool parse_mount(char *line, const char *controller, bool is_v2, char *root, char *point)
{
    char type[32], options[LINE_BYTES];
    const char *rest = strstr(line, " - ");

    return rest != NULL && sscanf(line, "%*s %*s %*s %511s %511s", root, point) == 2 &&
           sscanf(rest, " - %31s %*s %4095s", type, options) == 2 &&
           strcmp(type, is_v2 ? "cgroup2" : "cgroup") == 0 &&
           (is_v2 || has_item(options, controller));
}

/* The part of a group's name below the mount: a container may see only a subtree. */
static const char *below(const char *name, const char *root)
{
    const size_t length = strlen(root);

    if (strcmp(root, "/") == 0)
        return strcmp(name, "/") == 0 ? "" : name;
    if (strncmp(name, root, length) == 0 && (name[length] == '/' || name[length] == '\0'))
        return name + length;
    return "";
}

static FILE *open_proc(const char *proc, const char *process, const char *name)
{
    char path[CGROUP_PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s/%s", proc, process, name);
    return fopen(path, "re");
}

/* Finds where a process has the hierarchy mounted; false: nowhere, or not visible. */
static bool find_mount(const char *proc, const char *process, const char *controller, bool is_v2,
                       char *root, char *point)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *f = open_proc(proc, process, "mountinfo");

    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof line, f) != NULL)
        found = parse_mount(line, controller, is_v2, root, point);
    fclose(f);
    return found;
}

/* 0: no parent, or not visible.  proc_pid_stat(5): the name in () may contain any character. */
static int parent_of(const char *proc, const char *process)
{
    char line[512];
    const char *end = NULL;
    int parent = 0;
    FILE *f = open_proc(proc, process, "stat");

    if (f == NULL)
        return 0;
    if (fgets(line, sizeof line, f) != NULL)
        end = strrchr(line, ')');
    fclose(f);
    return end != NULL && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Builds the directory of a group of this name.  Returns whether its hierarchy is readable. */
static bool find_directory(struct group *group, const char *proc, const char *controller,
                           const char *name)
{
    char root[CGROUP_PATH_BYTES], point[CGROUP_PATH_BYTES], process[16] = "self", outside[64] = "";
    int pid;

    for (int i = 0; i < MOST_GENERATIONS; i++) {
        if (find_mount(proc, process, controller, group->is_v2, root, point)) {
            const int n = snprintf(group->path, sizeof group->path, "%s%s", outside, point);

            group->mount_length = (size_t)n;
            if (n < (int)sizeof group->path && access(group->path, R_OK) == 0)
                return snprintf(group->path, sizeof group->path, "%s%s%s", outside, point,
                                below(name, root)) < (int)sizeof group->path;
        }
        pid = parent_of(proc, process);
        if (pid == 0)
            return false;
        snprintf(process, sizeof process, "%d", pid);
        snprintf(outside, sizeof outside, "%.30s/%d/root", proc, pid);
    }
    return false;
}

/* The group itself, then its ancestors up to the mount point. */
static void walk_up(struct group *group, on_group *on, void *context)
{
    char *end;

    on(context, group);
    while (strlen(group->path) > group->mount_length &&
           (end = strrchr(group->path + group->mount_length, '/')) != NULL) {
        *end = '\0';
        on(context, group);
    }
}

/* Visits every group of this process that `controller` may limit. */
static void for_each_group(const char *proc, const char *controller, on_group *on, void *context)
{
    char line[LINE_BYTES];
    FILE *f = open_proc(proc, "self", "cgroup");

    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL) { /* "4:cpu,cpuacct:/a/b" or "0::/a/b" */
        char *rest = line, *controllers, *name;
        struct group group;

        strsep(&rest, ":");
        controllers = strsep(&rest, ":");
        name = strsep(&rest, "\n");
        group.is_v2 = controllers != NULL && controllers[0] == '\0';
        if (name != NULL && (group.is_v2 || has_item(controllers, controller)) &&
            find_directory(&group, proc, controller, name))
            walk_up(&group, on, context);
    }
    fclose(f);
}

/* --- reading --- */

static int open_file(const struct group *group, const char *name)
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
static uint64_t read_bytes(int fd)
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

/* The value of a line "name value" of memory.stat; 0 if missing. */
static uint64_t stat_value(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
    return 0;
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
    struct cgroup_reading r = {.limit_bytes = read_bytes(l->limit_fd)};
    const uint64_t used = read_bytes(l->used_fd);

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

static void add_limit(struct cgroup_memory *m, const struct group *group, const char *limit,
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

static void add_memory_limits(void *context, const struct group *group)
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
    for_each_group(proc, "memory", add_memory_limits, m);
}

void cgroup_memory_close(struct cgroup_memory *m)
{
    for (unsigned i = 0; i < m->n; i++)
        close_limit(&m->limits[i]);
    m->n = 0;
}

/* --- CPU --- */

/* Parses one file; returns how many of the two numbers it has. */
static int read_two(const struct group *group, const char *name, int64_t *first, int64_t *second)
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

static void take_quota(void *context, const struct group *group)
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

    for_each_group(proc, "cpu", take_quota, &least);
    return least;
}
