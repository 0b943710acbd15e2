/* SPDX-License-Identifier: MIT
 * cgroup: the limits that control groups of version 1 and 2 set on this process: its own group's
 * and those of every ancestor that is visible here.  See cgroups(7) and the kernel's
 * Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst.
 *
 * `proc` is the directory of the process, "/proc/self": its files cgroup and mountinfo tell where
 * the groups are.  A file that is missing or cannot be read sets no limit. */
#ifndef TCPSCALER_CGROUP_H
#define TCPSCALER_CGROUP_H

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
    uint64_t cache_bytes; /* of it, page cache that can be dropped at once */
};

/* Finds the memory limits in force now: v1 memory.limit_in_bytes and memory.kmem.limit_in_bytes, v2
 * memory.max and memory.high.  Main thread, before workers have fd tables of their own. */
void cgroup_memory_open(struct cgroup_memory *m, const char *proc);
void cgroup_memory_close(struct cgroup_memory *m);

/* Page cache is read only where limit - used is below `cache_below_bytes`, and is 0 otherwise:
 * memory.stat is dear, as the kernel sums up all CPUs for it. */
struct cgroup_reading cgroup_limit_read(const struct cgroup_limit *l, uint64_t cache_below_bytes);

/* limit - used + cache: what may still be charged before the kernel kills or throttles. */
uint64_t cgroup_reading_left(const struct cgroup_reading *r);

/* CPUs' worth of time that the tightest quota allows, in thousandths: v1 cpu.cfs_quota_us, v2
 * cpu.max.  CGROUP_UNLIMITED: no quota. */
uint64_t cgroup_cpu_quota_milli(const char *proc);

#endif
