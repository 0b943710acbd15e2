/* SPDX-License-Identifier: MIT
 * meminfo: how much of the host's memory is still available to a program, from the texts of
 * /proc/meminfo and /proc/zoneinfo, proc_meminfo(5).  Pure.
 *
 * It does not use MemAvailable, which includes half of the reclaimable slab: the dentries and
 * inodes of open sockets are in there and cannot be reclaimed. */
#ifndef TCPSCALER_HOST_MEMINFO_H
#define TCPSCALER_HOST_MEMINFO_H

#include <stdint.h>

#define MEMINFO_UNKNOWN UINT64_MAX

struct meminfo {
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t cache_bytes; /* file pages, neither dirty nor mapped: dropped on demand */
};

/* Missing values are MEMINFO_UNKNOWN; an unknown cache_bytes is 0. */
void meminfo_parse(struct meminfo *m, const char *text);

/* What the kernel keeps free: for each zone the high watermark and the largest lowmem_reserve, at
 * most the whole zone.  Below it the kernel reclaims and, if it finds nothing, invokes the OOM
 * killer. */
uint64_t meminfo_reserve_bytes(const char *zoneinfo, uint64_t page_bytes);

/* free + cache - reserve, at least 0; or MEMINFO_UNKNOWN. */
uint64_t meminfo_left(const struct meminfo *m, uint64_t reserve_bytes);

#endif
