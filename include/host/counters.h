/* SPDX-License-Identifier: MIT
 * host_counters: counters of this process and host that tell whether a measurement was disturbed.
 * A figure that the system does not give is HOST_COUNTERS_UNKNOWN.  Any thread. */
#ifndef TCPSCALER_HOST_COUNTERS_H
#define TCPSCALER_HOST_COUNTERS_H

#include <stdint.h>

#define HOST_COUNTERS_UNKNOWN UINT64_MAX

/* All but rss_bytes, slab_bytes, tcp_memory_bytes and tcp_memory_is_short only ever grow: subtract
 * two readings. */
struct host_counters {
    uint64_t user_us, system_us;             /* CPU time of this process */
    uint64_t involuntary_switches;           /* this process was preempted */
    uint64_t rss_bytes;                      /* resident memory of this process, now */
    uint64_t peak_rss_bytes;                 /* the most it has been */
    uint64_t cpu_ticks, steal_ticks;         /* of the machine, all CPUs */
    uint64_t retransmits;                    /* TCP segments, this network namespace */
    uint64_t loss_probes;                    /* of them (TLP, RFC 8985) */
    uint64_t dsacks;                         /* peers reported a segment twice, this namespace */
    uint64_t listen_overflows, listen_drops; /* this network namespace */
    uint64_t tcp_memory_pressures;           /* times that TCP's memory ran short, this namespace */
    uint64_t tcp_memory_is_short;            /* now: 1, or 0; of the machine (net.ipv4.tcp_mem) */
    uint64_t slab_bytes;                     /* kernel slab memory of the whole machine, now */
    uint64_t tcp_memory_bytes; /* of its TCP sockets in the kernel, now; whole pages */
};

void host_counters_read(struct host_counters *s);

/* later - earlier, or HOST_COUNTERS_UNKNOWN when either is. */
uint64_t host_counters_delta(uint64_t later, uint64_t earlier);

/* How often TCP's memory was short between two readings, or HOST_COUNTERS_UNKNOWN. */
uint64_t host_counters_memory_pressures(const struct host_counters *later,
                                        const struct host_counters *earlier);

/* Between the two, about every second: the kernel counts a pressure in the network namespace whose
 * socket caused it, though all suffer; one of another namespace is only seen while it lasts. */
void host_counters_watch_memory(struct host_counters *earlier);

/* Steal between two readings in percent of all CPU time, or a negative number when unknown. */
double host_counters_steal_percent(const struct host_counters *later,
                                   const struct host_counters *earlier);

#endif
