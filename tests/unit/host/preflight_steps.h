/* SPDX-License-Identifier: MIT
 * preflight_steps: a machine and a run that exactly fits it, for the tests of preflight. */
#ifndef TCPSCALER_TESTS_UNIT_HOST_PREFLIGHT_STEPS_H
#define TCPSCALER_TESTS_UNIT_HOST_PREFLIGHT_STEPS_H

#include "host/preflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 10,000 connections with both ends on this host and two threads each: memory_model.c. */
#define EACH     (4208ull + 95 + 4080 + 75)
#define PROGRAMS (2 * 1500000 + 2 * (380000 + 31000))
#define NEEDED   (10000 * EACH + PROGRAMS + 2 * 2 * 40000)

/* What tcpclient keeps of 512 MiB, and what both programs need: memory_watch.h. */
#define RESERVE ((8ull << 20) + PROGRAMS)

/* A machine that exactly fits the run, limit by limit. */
static const struct host_limits host_of_10000 = {
    .nofile = 5064,
    .nr_open = 1048576,
    .file_max = 21128, /* 1,000 open, 20,000 sockets, 2 * 64 reserved */
    .files_open = 1000,
    .epoll_watches = 20128,
    .threads_max = 202,
    .threads_running = 200,
    .pid_max = 4194304,
    .user_threads_max = 52,
    .user_threads = 50,
    .cgroup_threads_max = 22,
    .cgroup_threads = 20,
    .cgroup_threads_limit = "/sys/fs/cgroup/u/pids.max",
    .memory_total_bytes = 512ull << 20,
    .memory_available_bytes = RESERVE + NEEDED / 80 * 100 + 100,
    .cgroup_available_bytes = HOST_LIMITS_UNKNOWN,
    .cgroup_limit_bytes = HOST_LIMITS_UNKNOWN,
    .address_space_bytes = HOST_LIMITS_UNKNOWN,
    .thread_stack_bytes = 8ull << 20,
    .page_bytes = 4096,
    .tcp_pages_max = 5010,
    .tcp_pages_used = 10,
    .first_ephemeral_port = 32768,
    .last_ephemeral_port = 60999,
    .first_unprivileged_port = 1024,
    .sockets_in_time_wait = 5,
    .time_wait_buckets = 10000,
    .orphans_max = 10000,
    .somaxconn = 256,
    .syn_backlog = 342, /* three quarters hold 256 handshakes */
    .syn_cookies = 0,
    .tcp_timestamps = 1,
    .tcp_hash_entries = 5000,
    .conntrack_max = 10007,
    .conntrack_used = 7,
};

static const struct preflight_client ask_10000 = {
    .n_connections = 10000,
    .n_tuples = 10000,
    .n_addresses = 2,
    .n_usable_addresses = 2,
    .explicit_ports = true,
    .lowest_port = 1024,
    .n_threads = 2,
    .own_fd_tables = true,
    .reserved_fds = 64,
    .peer_is_here = true,
    .closes_with_fin = true,
    .connect_window = 256,
};

static inline const struct preflight_line *find(const struct preflight *p, const char *name)
{
    for (unsigned i = 0; i < p->n_lines; i++)
        if (strcmp(p->lines[i].name, name) == 0)
            return &p->lines[i];
    fail_msg("no line '%s'", name);
    return p->lines; /* not reached */
}

/* The only line that is not ok has this name, this level and this text in its fix. */
static inline void assert_only(const struct preflight *p, const char *name,
                               enum preflight_level level, const char *in_fix)
{
    for (unsigned i = 0; i < p->n_lines; i++) {
        const struct preflight_line *line = &p->lines[i];

        if (strcmp(line->name, name) != 0 && line->level != PREFLIGHT_OK)
            fail_msg("'%s' is %s", line->name, preflight_level_name(line->level));
    }
    assert_int_equal(find(p, name)->level, level);
    if (strstr(find(p, name)->fix, in_fix) == NULL)
        fail_msg("'%s' is not in '%s'", in_fix, find(p, name)->fix);
    assert_int_equal(preflight_worst(p), level);
}

/* Whether a line's name has this text. */
static inline bool has_line(const struct preflight *p, const char *name)
{
    for (unsigned i = 0; i < p->n_lines; i++)
        if (strstr(p->lines[i].name, name) != NULL)
            return true;
    return false;
}

#endif
