/* SPDX-License-Identifier: MIT
 * host_limits: this machine's limits that affect connections, and how much of them is in use.  Read
 * from /proc at once; a figure that the system does not provide is HOST_LIMITS_UNKNOWN.  Network
 * limits are those of this network namespace.  Any thread. */
#ifndef TCPSCALER_HOST_LIMITS_H
#define TCPSCALER_HOST_LIMITS_H

#include "host/cgroup.h"

#include <stdbool.h>
#include <stdint.h>

#define HOST_LIMITS_UNKNOWN UINT64_MAX

struct host_limits {
    /* file descriptors */
    uint64_t nofile;               /* per fd table, current */
    uint64_t nr_open;              /* maximum for nofile */
    uint64_t file_max, files_open; /* of the whole host; file_max unknown: unlimited */
    bool is_exempt_from_file_max;  /* CAP_SYS_ADMIN */
    uint64_t epoll_watches;        /* fs.epoll.max_user_watches, per user */
    /* threads */
    uint64_t threads_max, threads_running;        /* kernel.threads-max; of the whole host */
    uint64_t pid_max;                             /* kernel.pid_max, also of the whole host */
    uint64_t user_threads_max, user_threads;      /* RLIMIT_NPROC; unknown: it does not apply */
    uint64_t cgroup_threads_max, cgroup_threads;  /* tightest pids.max of our cgroups */
    char cgroup_threads_limit[CGROUP_PATH_BYTES]; /* path of that limit */
    /* memory */
    uint64_t memory_total_bytes;     /* MemTotal */
    uint64_t memory_available_bytes; /* meminfo_left() */
    uint64_t cgroup_available_bytes; /* smallest headroom among the limits of our cgroups */
    uint64_t cgroup_limit_bytes;     /* that limit, ... */
    bool cgroup_is_v2;
    char cgroup_limit[CGROUP_PATH_BYTES]; /* ... and its path */
    uint64_t address_space_bytes; /* what RLIMIT_AS or RLIMIT_DATA leaves; unknown: unlimited */
    bool data_is_limit;           /* RLIMIT_DATA leaves less: private memory, nearly all of it */
    uint64_t thread_stack_bytes;  /* RLIMIT_STACK; unknown: unlimited */
    uint64_t page_bytes;
    uint64_t tcp_pages_max, tcp_pages_used; /* net.ipv4.tcp_mem[2]; /proc/net/sockstat */
    /* TCP */
    uint64_t first_ephemeral_port, last_ephemeral_port;
    uint64_t first_unprivileged_port;
    bool may_bind_privileged; /* CAP_NET_BIND_SERVICE in this network namespace */
    uint64_t sockets_in_use;  /* TCP, of this network namespace */
    uint64_t sockets_in_time_wait, time_wait_buckets, orphans_max;
    uint64_t somaxconn, syn_backlog, syn_cookies, abort_on_overflow, synack_retries;
    uint64_t tcp_timestamps;
    uint64_t tcp_hash_entries; /* chains of the table of established connections */
    /* conntrack; unknown if the module is not loaded; a maximum of 0 is none */
    uint64_t conntrack_max, conntrack_used;
    bool conntrack_max_is_of_host; /* in a network namespace: only the host can change it */
};

void host_limits_read(struct host_limits *host);

/* Replaces this user's figures by those of the user to which this program, which has one thread,
 * will switch: root's exemptions from RLIMIT_NPROC and fs.file-max end then. */
void host_limits_of_user(struct host_limits *host, uint64_t user);

#endif
