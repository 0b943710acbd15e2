/* SPDX-License-Identifier: MIT
 * cgroup_usage: see host/watch/cgroup_usage.h. */
#include "host/watch/cgroup_usage.h"

#include "host/watch/procfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { STAT_BYTES = 8192, VALUE_BYTES = 64, MOST_DEPTH = 8 };

const char *const cgroup_usage_files[2] = {"memory.usage_in_bytes", "memory.current"};

/* --- memory --- */

static uint64_t read_value(const struct cgroup_group *group, const char *file)
{
    char text[VALUE_BYTES], *end;
    uint64_t value;

    if (procfile_read(text, sizeof text, "%s/%s", group->path, file) != 0)
        return CGROUP_USAGE_UNKNOWN;
    value = strtoull(text, &end, 10);
    return end == text ? CGROUP_USAGE_UNKNOWN : value;
}

static uint64_t stat_value(const char *text, const char *name)
{
    uint64_t value = CGROUP_USAGE_UNKNOWN;

    (void)cgroup_stat_find(text, name, &value);
    return value;
}

/* Before Linux 5.18 there is no sum of the kernel's memory. */
static uint64_t kernel_sum(const char *text)
{
    static const char *const parts[] = {"slab", "kernel_stack", "pagetables", "percpu"};
    uint64_t sum = stat_value(text, "kernel"), part;

    if (sum != CGROUP_USAGE_UNKNOWN)
        return sum;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (cgroup_stat_find(text, parts[i], &part))
            sum = sum == CGROUP_USAGE_UNKNOWN ? part : sum + part;
    return sum;
}

static void read_v2(struct cgroup_usage *u, const struct cgroup_group *memory, const char *stat)
{
    u->bytes = read_value(memory, "memory.current");
    u->user_bytes = stat_value(stat, "anon");
    u->socket_bytes = stat_value(stat, "sock");
    u->kernel_bytes = kernel_sum(stat);
    if (u->kernel_bytes != CGROUP_USAGE_UNKNOWN && u->socket_bytes != CGROUP_USAGE_UNKNOWN)
        u->kernel_bytes += u->socket_bytes;
}

/* Socket buffers are charged apart from all other memory. */
static void read_v1(struct cgroup_usage *u, const struct cgroup_group *memory, const char *stat)
{
    u->bytes = read_value(memory, "memory.usage_in_bytes");
    u->user_bytes = stat_value(stat, "total_rss");
    u->socket_bytes = read_value(memory, "memory.kmem.tcp.usage_in_bytes");
    u->kernel_bytes = read_value(memory, "memory.kmem.usage_in_bytes");
    if (u->socket_bytes == CGROUP_USAGE_UNKNOWN)
        return;
    u->kernel_bytes += u->kernel_bytes != CGROUP_USAGE_UNKNOWN ? u->socket_bytes : 0;
    u->bytes += u->bytes != CGROUP_USAGE_UNKNOWN ? u->socket_bytes : 0;
}

void cgroup_usage_read(struct cgroup_usage *u, const struct cgroup_group *memory)
{
    char stat[STAT_BYTES];

    (void)procfile_read(stat, sizeof stat, "%s/memory.stat", memory->path);
    if (memory->is_v2)
        read_v2(u, memory, stat);
    else
        read_v1(u, memory, stat);
}

/* --- processes --- */

static void read_processes(const char *directory, void (*on_process)(void *context, int pid),
                           void *context)
{
    char path[CGROUP_PATH_BYTES + 64];
    FILE *f;
    int pid;

    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    f = fopen(path, "re");
    if (f == NULL)
        return;
    while (fscanf(f, "%d", &pid) == 1)
        on_process(context, pid);
    fclose(f);
}

/* The groups of a hierarchy are its directories. */
static int walk_down(const char *directory, int depth, void (*on_process)(void *context, int pid),
                     void *context)
{
    char path[CGROUP_PATH_BYTES];
    const struct dirent *entry;
    DIR *d = opendir(directory);

    if (d == NULL)
        return -1;
    read_processes(directory, on_process, context);
    while (depth < MOST_DEPTH && (entry = readdir(d)) != NULL)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path)
            (void)walk_down(path, depth + 1, on_process, context);
    closedir(d);
    return 0;
}

int cgroup_processes(const char *directory, void (*on_process)(void *context, int pid),
                     void *context)
{
    return walk_down(directory, 0, on_process, context);
}
