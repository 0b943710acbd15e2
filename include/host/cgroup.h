/* SPDX-License-Identifier: MIT
 * cgroup: the limits that control groups of version 1 and 2 set on this process: those of its own
 * group and of every visible ancestor.  See cgroups(7) and the kernel's
 * Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
 *
 * `proc` is "/proc".  A missing or unreadable file sets no limit. */
#ifndef TCPSCALER_HOST_CGROUP_H
#define TCPSCALER_HOST_CGROUP_H

#include "host/watch/cgroup_find.h"

#include <stdbool.h>
#include <stdint.h>

#define CGROUP_MOST_LIMITS 32
#define CGROUP_UNLIMITED   UINT64_MAX

/* One limit of one group; its files stay open so that it can be read again without a free file
 * descriptor. */
struct cgroup_limit {
    char path[CGROUP_PATH_BYTES]; /* path of the file that holds the limit */
    bool is_v2;
    int limit_fd, used_fd, stat_fd; /* stat_fd -1: page cache is not subtracted */
};

struct cgroup_memory {
    struct cgroup_limit limits[CGROUP_MOST_LIMITS]; /* from the innermost group outwards */
    unsigned n;
};

struct cgroup_reading {
    /* CGROUP_UNLIMITED: no limit or not readable; the other fields are 0 then */
    uint64_t limit_bytes;
    uint64_t used_bytes;
    uint64_t cache_bytes; /* of these, page cache that can be dropped at once; 0 unless set from
                           * cgroup_limit_cache_bytes() */
};

/* Finds the effective memory limits: v1 memory.limit_in_bytes and memory.kmem.limit_in_bytes, v2
 * memory.max and memory.high; of more than CGROUP_MOST_LIMITS, the innermost ones.  Main thread,
 * before workers have their own fd tables. */
void cgroup_memory_open(struct cgroup_memory *m, const char *proc);
void cgroup_memory_close(struct cgroup_memory *m);

/* The path or, if it is too long for a message, its last part, starting at a directory. */
const char *cgroup_path_end(const char *path);

/* Without page cache. */
struct cgroup_reading cgroup_limit_read(const struct cgroup_limit *l);

/* The page cache only: worth reading when little is left, since the kernel sums up the counters of
 * all CPUs for it. */
uint64_t cgroup_limit_cache_bytes(const struct cgroup_limit *l);

/* limit - used + cache: what can still be charged before the kernel kills or throttles. */
uint64_t cgroup_reading_left(const struct cgroup_reading *r);

/* The tightest limit on processes and threads; limit: CGROUP_UNLIMITED if there is none. */
struct cgroup_pids {
    uint64_t limit, used;         /* used: with all groups below it */
    char path[CGROUP_PATH_BYTES]; /* path of the file that holds the limit */
};

/* Finds pids.max, which both versions have. */
struct cgroup_pids cgroup_pids_read(const char *proc);

/* CPU time that the tightest quota allows, in thousandths of a CPU: v1 cpu.cfs_quota_us, v2
 * cpu.max. CGROUP_UNLIMITED: no quota. */
uint64_t cgroup_cpu_quota_milli(const char *proc);

#endif
