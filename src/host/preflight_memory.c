/* SPDX-License-Identifier: MIT
 * preflight_memory: see host/preflight_memory.h. */
#include "host/preflight_memory.h"

#include <inttypes.h>
#include <stdio.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* A host with almost no free memory starts to reclaim and stalls the measurement. */
#define COMFORTABLE_MEMORY_PERCENT 80u

/* pthread_create(3) if RLIMIT_STACK is unlimited, x86-64. */
#define DEFAULT_STACK_BYTES (2ull << 20)

/* --- what is left, what is needed --- */

static uint64_t less_reserve(uint64_t available_bytes, uint64_t limit_bytes,
                             enum memory_watch_reserve part)
{
    const uint64_t reserve_bytes =
        limit_bytes != UNKNOWN ? memory_watch_reserve_bytes(limit_bytes, part) : 0;

    if (available_bytes == UNKNOWN)
        return UNKNOWN;
    return available_bytes > reserve_bytes ? available_bytes - reserve_bytes : 0;
}

static uint64_t machine_bytes(const struct host_limits *host, enum memory_watch_reserve part)
{
    return less_reserve(host->memory_available_bytes, host->memory_total_bytes, part);
}

static uint64_t cgroup_bytes(const struct host_limits *host, enum memory_watch_reserve part)
{
    return less_reserve(host->cgroup_available_bytes, host->cgroup_limit_bytes, part);
}

static enum memory_account account_of_cgroup(const struct host_limits *host)
{
    return host->cgroup_is_v2 ? MEMORY_OF_CGROUP_V2 : MEMORY_OF_CGROUP_V1;
}

/* The stacks of threads are mapped completely. */
static uint64_t address_space_needed(const struct host_limits *host, const struct memory_ends *own)
{
    const uint64_t stack_bytes =
        host->thread_stack_bytes != UNKNOWN ? host->thread_stack_bytes : DEFAULT_STACK_BYTES;

    return memory_model_bytes(own, MEMORY_OF_PROCESS) +
           (own->client_threads + own->server_threads) * stack_bytes;
}

bool preflight_memory_suffices(const struct host_limits *host, const struct memory_ends *own,
                               enum memory_watch_reserve part)
{
    return memory_model_bytes(own, MEMORY_OF_MACHINE) <= machine_bytes(host, part) &&
           memory_model_bytes(own, account_of_cgroup(host)) <= cgroup_bytes(host, part) &&
           address_space_needed(host, own) <= host->address_space_bytes;
}

/* --- lines --- */

static void judge_room(struct preflight_line *line, uint64_t each_bytes, const char *limit)
{
    if (line->available == UNKNOWN)
        return;
    if (line->available < line->needed && each_bytes == 0) /* no connection yet, only threads */
        preflight_line_fix(line, PREFLIGHT_STOP, "%s", limit);
    else if (line->available < line->needed)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "use fewer connections (about %" PRIu64 " bytes each), or %s",
                           each_bytes, limit);
    else if (line->available / 100 * COMFORTABLE_MEMORY_PERCENT < line->needed)
        preflight_line_fix(line, PREFLIGHT_WARN,
                           "more than %u %% of the available memory: expect reclaim",
                           COMFORTABLE_MEMORY_PERCENT);
}

static void check_cgroup(struct preflight *p, const struct host_limits *host,
                         const struct memory_ends *ends, enum memory_watch_reserve part)
{
    const enum memory_account account = account_of_cgroup(host);
    char limit[PREFLIGHT_TEXT_BYTES];

    if (host->cgroup_available_bytes == UNKNOWN)
        return;
    snprintf(limit, sizeof limit, "raise %s", cgroup_path_end(host->cgroup_limit));
    judge_room(preflight_line_add(p, "cgroup memory (bytes available)", cgroup_bytes(host, part),
                                  memory_model_bytes(ends, account)),
               memory_model_connection_bytes(ends, account), limit);
}

void preflight_memory_check(struct preflight *p, const struct host_limits *host,
                            const struct memory_ends *ends, enum memory_watch_reserve part)
{
    judge_room(preflight_line_add(p, "memory (bytes available)", machine_bytes(host, part),
                                  memory_model_bytes(ends, MEMORY_OF_MACHINE)),
               memory_model_connection_bytes(ends, MEMORY_OF_MACHINE), "add memory");
    check_cgroup(p, host, ends, part);
}

void preflight_memory_check_address_space(struct preflight *p, const struct host_limits *host,
                                          const struct memory_ends *own)
{
    if (host->address_space_bytes == UNKNOWN)
        return;
    judge_room(preflight_line_add(p, "address space (bytes available)", host->address_space_bytes,
                                  address_space_needed(host, own)),
               memory_model_connection_bytes(own, MEMORY_OF_PROCESS),
               "raise ulimit -v, or use fewer --threads");
}
