/* SPDX-License-Identifier: MIT
 * cgroup: the limits that control groups of version 1 and 2 set on this process: its own group's
 * and those of every ancestor that is visible here.  See cgroups(7) and the kernel's
 * Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst.
 *
 * `proc` is "/proc": self/cgroup and self/mountinfo tell where the groups are.  A hierarchy that is
 * not mounted for this process, as under ip-netns(8), which mounts a /sys of its own, is looked for
 * in the mounts of its parent, that one's parent and so on, as far as those may be read.  A file
 * that is missing or cannot be read sets no limit. */
#ifndef TCPSCALER_HOST_CGROUP_H
#define TCPSCALER_HOST_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_PATH_BYTES  512
#define CGROUP_MOST_LIMITS 32
#define CGROUP_UNLIMITED   UINT64_MAX

/* One limit of one group; its files stay open, so that it can be read again without a free file
 * descriptor. */
struct cgroup_limit {
    char path[CGROUP_PATH_BYTES]; /* of the file that holds the limit */
    bool is_v2;
    int limit_fd, used_fd, stat_fd; /* stat_fd -1: page cache does not count against it */
};

struct cgroup_memory {
    struct cgroup_limit limits[CGROUP_MOST_LIMITS]; /* from the innermost group outwards */
    unsigned n;
};

struct cgroup_reading {
    uint64_t limit_bytes; /* CGROUP_UNLIMITED: lifted or not readable; the rest is then 0 */
    uint64_t used_bytes;
    uint64_t
        cache_bytes; /* of it, page cache that can be dropped at once, where it was asked for */
};

/* Finds the memory limits in force now: v1 memory.limit_in_bytes and memory.kmem.limit_in_bytes, v2
 * memory.max and memory.high.  Main thread, before workers have fd tables of their own. */
void cgroup_memory_open(struct cgroup_memory *m, const char *proc);
void cgroup_memory_close(struct cgroup_memory *m);

/* The path, or where it is too long for a message its end, from a directory on. */
const char *cgroup_path_end(const char *path);

/* Without page cache. */
struct cgroup_reading cgroup_limit_read(const struct cgroup_limit *l);

/* The page cache alone: worth asking for when little is left, as the kernel sums up the counters of
 * all CPUs for it. */
uint64_t cgroup_limit_cache_bytes(const struct cgroup_limit *l);

/* limit - used + cache: what may still be charged before the kernel kills or throttles. */
uint64_t cgroup_reading_left(const struct cgroup_reading *r);

/* CPUs' worth of time that the tightest quota allows, in thousandths: v1 cpu.cfs_quota_us, v2
 * cpu.max.  CGROUP_UNLIMITED: no quota. */
uint64_t cgroup_cpu_quota_milli(const char *proc);

#endif
