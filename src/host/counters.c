/* SPDX-License-Identifier: MIT
 * host_counters: see host/counters.h. */
#include "host/counters.h"

#include "host/proc_number.h"
#include "host/watch/netstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t us_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void read_usage(struct host_counters *s)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    s->user_us = us_of(usage.ru_utime);
    s->system_us = us_of(usage.ru_stime);
    s->involuntary_switches = (uint64_t)usage.ru_nivcsw;
    s->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024; /* without /proc */
}

/* Not getrusage(2)'s peak, which execve(2) takes over from the process that started the program
 * (Linux, exec_mmap()).  The kernel's peak lags behind: it counts pages per CPU and adds them up
 * now and then. */
static void read_rss(struct host_counters *s)
{
    const uint64_t pages = proc_number("/proc/self/statm", "", 1);
    const uint64_t peak_kib = proc_number("/proc/self/status", "VmHWM:", 0);

    if (peak_kib != PROC_NUMBER_UNKNOWN)
        s->peak_rss_bytes = peak_kib * 1024;
    if (pages == PROC_NUMBER_UNKNOWN)
        return;
    s->rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    if (s->peak_rss_bytes < s->rss_bytes)
        s->peak_rss_bytes = s->rss_bytes;
}

/* "cpu  user nice system idle iowait irq softirq steal ..."; the guest fields that follow are
 * included in user and nice. */
static void read_cpu(struct host_counters *s)
{
    FILE *f = fopen("/proc/stat", "re");
    uint64_t ticks[8], sum = 0;
    int n = 0;

    if (f == NULL)
        return;
    if (fscanf(f, "cpu") == 0)
        while (n < 8 && fscanf(f, "%" SCNu64, &ticks[n]) == 1)
            sum += ticks[n++];
    if (n == 8) {
        s->cpu_ticks = sum;
        s->steal_ticks = ticks[7];
    }
    fclose(f);
}

static void read_tcp_memory(struct host_counters *s)
{
    const uint64_t pages = proc_number_named("/proc/net/sockstat", "TCP:", " mem ");

    if (pages != PROC_NUMBER_UNKNOWN)
        s->tcp_memory_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "protocol  size sockets  memory press ...", then "TCP 2304 5 1 no ...". */
static void read_tcp_is_short(struct host_counters *s)
{
    FILE *f = fopen("/proc/net/protocols", "re");
    char line[256], is_short[8];

    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "TCP %*u %*d %*d %7s", is_short) == 1)
            s->tcp_memory_is_short = strcmp(is_short, "yes") == 0;
    fclose(f);
}

static void read_tcp_pressures(struct host_counters *s)
{
    s->tcp_memory_pressures = netstat_read("/proc/net/netstat", "TcpExt:", "TCPMemoryPressures");
    read_tcp_is_short(s);
}

static void read_slab(struct host_counters *s)
{
    const uint64_t kib = proc_number("/proc/meminfo", "Slab:", 0);

    if (kib != PROC_NUMBER_UNKNOWN)
        s->slab_bytes = kib * 1024;
}

void host_counters_read(struct host_counters *s)
{
    memset(s, 0xff, sizeof *s); /* every field is HOST_COUNTERS_UNKNOWN */
    read_usage(s);
    read_rss(s);
    read_cpu(s);
    s->retransmits = netstat_read("/proc/net/snmp", "Tcp:", "RetransSegs");
    s->loss_probes = netstat_read("/proc/net/netstat", "TcpExt:", "TCPLossProbes");
    s->dsacks = netstat_read("/proc/net/netstat", "TcpExt:", "TCPDSACKRecv");
    s->listen_overflows = netstat_read("/proc/net/netstat", "TcpExt:", "ListenOverflows");
    s->listen_drops = netstat_read("/proc/net/netstat", "TcpExt:", "ListenDrops");
    read_slab(s);
    read_tcp_memory(s);
    read_tcp_pressures(s);
}

uint64_t host_counters_delta(uint64_t later, uint64_t earlier)
{
    if (later == HOST_COUNTERS_UNKNOWN || earlier == HOST_COUNTERS_UNKNOWN || later < earlier)
        return HOST_COUNTERS_UNKNOWN;
    return later - earlier;
}

uint64_t host_counters_memory_pressures(const struct host_counters *later,
                                        const struct host_counters *earlier)
{
    const uint64_t begun =
        host_counters_delta(later->tcp_memory_pressures, earlier->tcp_memory_pressures);

    if (begun == HOST_COUNTERS_UNKNOWN || earlier->tcp_memory_is_short == HOST_COUNTERS_UNKNOWN)
        return HOST_COUNTERS_UNKNOWN;
    if (begun == 0 && later->tcp_memory_is_short == 1)
        return 1;
    return begun + earlier->tcp_memory_is_short;
}

void host_counters_watch_memory(struct host_counters *earlier)
{
    struct host_counters now;

    memset(&now, 0xff, sizeof now);
    read_tcp_pressures(&now);
    if (now.tcp_memory_is_short == 1 && now.tcp_memory_pressures == earlier->tcp_memory_pressures)
        earlier->tcp_memory_is_short = 1;
}

double host_counters_steal_percent(const struct host_counters *later,
                                   const struct host_counters *earlier)
{
    const uint64_t all = host_counters_delta(later->cpu_ticks, earlier->cpu_ticks);
    const uint64_t steal = host_counters_delta(later->steal_ticks, earlier->steal_ticks);

    if (all == HOST_COUNTERS_UNKNOWN || steal == HOST_COUNTERS_UNKNOWN || all == 0)
        return -1;
    return 100.0 * (double)steal / (double)all;
}
