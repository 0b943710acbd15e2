/* SPDX-License-Identifier: MIT
 * host_counters: counters of this process and host that show whether a measurement was disturbed.
 * Unknown values are HOST_COUNTERS_UNKNOWN.  Any thread. */
#ifndef TCPSCALER_HOST_COUNTERS_H
#define TCPSCALER_HOST_COUNTERS_H

#include <stdint.h>

#define HOST_COUNTERS_UNKNOWN UINT64_MAX

/* All except rss_bytes, slab_bytes, tcp_memory_bytes and tcp_memory_is_short only grow: subtract
 * two readings. */
struct host_counters {
    uint64_t user_us, system_us;             /* CPU time of this process */
    uint64_t involuntary_switches;           /* preemptions of this process */
    uint64_t rss_bytes;                      /* resident memory of this process */
    uint64_t peak_rss_bytes;                 /* its peak */
    uint64_t cpu_ticks, steal_ticks;         /* of the host, all CPUs */
    uint64_t retransmits;                    /* TCP segments, this network namespace */
    uint64_t loss_probes;                    /* TLP, RFC 8985: retransmits, or new data */
    uint64_t dsacks;                         /* segments that peers reported to have twice, this
                                              * namespace */
    uint64_t listen_overflows, listen_drops; /* this network namespace */
    uint64_t tcp_memory_pressures;           /* times TCP ran low on memory, this namespace */
    uint64_t tcp_memory_is_short;            /* now: 1 or 0; of the host (net.ipv4.tcp_mem) */
    uint64_t slab_bytes;                     /* kernel slab memory of the host, now */
    uint64_t tcp_memory_bytes; /* kernel memory of the host's TCP sockets, now; whole pages */
};

void host_counters_read(struct host_counters *s);

/* later - earlier, or HOST_COUNTERS_UNKNOWN if either is unknown, or later is less: the counter was
 * reset. */
uint64_t host_counters_delta(uint64_t later, uint64_t earlier);

/* How often TCP was under memory pressure between two readings, or HOST_COUNTERS_UNKNOWN. */
uint64_t host_counters_memory_pressures(const struct host_counters *later,
                                        const struct host_counters *earlier);

/* Call it about every second between the two readings: it notices memory pressure that another
 * network namespace caused.  All namespaces suffer from it, but the kernel counts it only in the
 * one whose socket caused it; in the others it is visible only while it lasts. */
void host_counters_watch_memory(struct host_counters *earlier);

/* Stolen CPU time between two readings in percent of all CPU time, or a negative number if unknown.
 */
double host_counters_steal_percent(const struct host_counters *later,
                                   const struct host_counters *earlier);

#endif
