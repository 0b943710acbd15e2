/* SPDX-License-Identifier: MIT
 * meminfo: how much memory of the machine a program may still take, from the texts of
 * /proc/meminfo and /proc/zoneinfo, proc_meminfo(5).  Pure.
 *
 * Not MemAvailable: it counts on half of the reclaimable slab, and the dentries and inodes of open
 * sockets are in there, which nothing can reclaim. */
#ifndef TCPSCALER_HOST_MEMINFO_H
#define TCPSCALER_HOST_MEMINFO_H

#include <stdint.h>

#define MEMINFO_UNKNOWN UINT64_MAX

struct meminfo {
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t cache_bytes; /* of files, neither dirty nor mapped: it goes as soon as it has to */
    uint64_t slab_bytes;  /* of the kernel's objects, sockets among them */
};

/* What the text does not have is MEMINFO_UNKNOWN; a cache_bytes that cannot be told is 0. */
void meminfo_parse(struct meminfo *m, const char *text);

/* What the kernel keeps free: of each zone the high watermark and the largest lowmem_reserve, at
 * most all of it.  Below it the kernel reclaims, and where it finds nothing the OOM killer comes.
 */
uint64_t meminfo_reserve_bytes(const char *zoneinfo, uint64_t page_bytes);

/* free + cache - reserve, at least 0; or MEMINFO_UNKNOWN. */
uint64_t meminfo_left(const struct meminfo *m, uint64_t reserve_bytes);

#endif
