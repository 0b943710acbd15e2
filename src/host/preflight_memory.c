/* SPDX-License-Identifier: MIT
 * preflight_memory: see host/preflight_memory.h. */
#include "host/preflight_memory.h"

#include "host/process_limits.h"

#include <inttypes.h>
#include <stdio.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

/* A host with almost no free memory starts to reclaim and stalls the measurement. */
#define COMFORTABLE_MEMORY_PERCENT 80u

/* pthread_create(3) if RLIMIT_STACK is unlimited, x86-64. */
#define DEFAULT_STACK_BYTES (2ull << 20)

/* --- what is left, what is needed --- */

/* Subtracts the reserve and what the programs need, so that the reserve is still free once they
 * have touched their memory. */
static uint64_t less_reserve(uint64_t available_bytes, uint64_t limit_bytes,
                             const struct memory_ends *ends, enum memory_watch_reserve part)
{
    const uint64_t reserve_bytes =
        (limit_bytes != UNKNOWN ? memory_watch_reserve_bytes(limit_bytes, part) : 0) +
        memory_model_program_bytes(ends);

    if (available_bytes == UNKNOWN)
        return UNKNOWN;
    return available_bytes > reserve_bytes ? available_bytes - reserve_bytes : 0;
}

static uint64_t machine_bytes(const struct host_limits *host, const struct memory_ends *ends,
                              enum memory_watch_reserve part)
{
    return less_reserve(host->memory_available_bytes, host->memory_total_bytes, ends, part);
}

static uint64_t cgroup_bytes(const struct host_limits *host, const struct memory_ends *ends,
                             enum memory_watch_reserve part)
{
    return less_reserve(host->cgroup_available_bytes, host->cgroup_limit_bytes, ends, part);
}

static enum memory_account account_of_cgroup(const struct host_limits *host)
{
    return host->cgroup_is_v2 ? MEMORY_OF_CGROUP_V2 : MEMORY_OF_CGROUP_V1;
}

/* The stacks of threads are mapped completely. */
static uint64_t address_space_needed(const struct host_limits *host, const struct memory_ends *own,
                                     uint32_t n_helper_threads)
{
    const uint64_t stack_bytes =
        host->thread_stack_bytes != UNKNOWN ? host->thread_stack_bytes : DEFAULT_STACK_BYTES;

    return memory_model_bytes(own, MEMORY_OF_PROCESS) +
           (own->client_threads + own->server_threads + n_helper_threads) * stack_bytes;
}

bool preflight_memory_suffices(const struct host_limits *host, const struct memory_ends *own,
                               enum memory_watch_reserve part)
{
    return memory_model_bytes(own, MEMORY_OF_MACHINE) <= machine_bytes(host, own, part) &&
           memory_model_bytes(own, account_of_cgroup(host)) <= cgroup_bytes(host, own, part) &&
           address_space_needed(host, own, 0) <= host->address_space_bytes;
}

/* --- lines --- */

static const char of_memory[] = "the available memory: expect reclaim";

/* A memory limit, how to raise it, and what happens close to it. */
struct account {
    enum memory_account kind;
    const char *raise, *if_close;
};

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Whether there would be fewer threads for fewer connections: a few more than they need may be due
 * to their uneven distribution. */
static bool are_needed(uint64_t n_threads, uint64_t n_connections, const struct host_limits *host)
{
    const uint64_t n_needed = process_limits_workers_for(n_connections, host->nofile, 1);

    return n_needed > 1 && n_threads <= n_needed + n_needed / 10 + 1;
}

/* Says what to do.  If not even one connection fits, the threads take too much. */
static void say_too_little(struct preflight_line *line, const struct host_limits *host,
                           const struct memory_ends *ends, const struct account *a)
{
    const uint64_t n = larger_of(ends->client_connections, ends->server_connections);
    const uint64_t n_threads = larger_of(ends->client_threads, ends->server_threads);
    const uint64_t each_bytes = memory_model_connection_bytes(ends, a->kind);

    if (n > 1 && line->needed - (n - 1) * each_bytes <= line->available)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "use fewer connections (about %" PRIu64 " bytes each), or %s",
                           each_bytes, a->raise);
    else if (are_needed(n_threads, n, host))
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "use fewer connections, which need fewer threads, or %s", a->raise);
    else
        preflight_line_fix(line, PREFLIGHT_STOP, "%s", a->raise);
}

static void judge_room(struct preflight_line *line, const struct host_limits *host,
                       const struct memory_ends *ends, const struct account *a)
{
    if (line->available == UNKNOWN)
        return;
    if (line->available < line->needed)
        say_too_little(line, host, ends, a);
    else if (line->available / 100 * COMFORTABLE_MEMORY_PERCENT < line->needed)
        preflight_line_fix(line, PREFLIGHT_WARN, "more than %u %% of %s",
                           COMFORTABLE_MEMORY_PERCENT, a->if_close);
}

static void check_cgroup(struct preflight *p, const struct host_limits *host,
                         const struct memory_ends *ends, enum memory_watch_reserve part)
{
    char raise[PREFLIGHT_TEXT_BYTES];
    const struct account a = {account_of_cgroup(host), raise, of_memory};

    if (host->cgroup_available_bytes == UNKNOWN)
        return;
    snprintf(raise, sizeof raise, "raise %s", cgroup_path_end(host->cgroup_limit));
    judge_room(preflight_line_add(p, "cgroup memory (bytes available)",
                                  cgroup_bytes(host, ends, part), memory_model_bytes(ends, a.kind)),
               host, ends, &a);
}

void preflight_memory_check(struct preflight *p, const struct host_limits *host,
                            const struct memory_ends *ends, enum memory_watch_reserve part)
{
    const struct account a = {MEMORY_OF_MACHINE, "add memory", of_memory};

    judge_room(preflight_line_add(p, "memory (bytes available)", machine_bytes(host, ends, part),
                                  memory_model_bytes(ends, a.kind)),
               host, ends, &a);
    check_cgroup(p, host, ends, part);
}

void preflight_memory_check_address_space(struct preflight *p, const struct host_limits *host,
                                          const struct memory_ends *own, uint32_t n_helper_threads)
{
    const char limit = host->data_is_limit ? 'd' : 'v';
    char raise[PREFLIGHT_TEXT_BYTES], if_close[PREFLIGHT_TEXT_BYTES];
    const struct account a = {MEMORY_OF_PROCESS, raise, if_close};

    if (host->address_space_bytes == UNKNOWN)
        return;
    snprintf(raise, sizeof raise, "raise ulimit -%c%s", limit,
             own->client_threads + own->server_threads > 1 ? ", or use fewer --threads" : "");
    snprintf(if_close, sizeof if_close, "what ulimit -%c leaves: memory may run out", limit);
    judge_room(preflight_line_add(p, "address space (bytes available)", host->address_space_bytes,
                                  address_space_needed(host, own, n_helper_threads)),
               host, own, &a);
}
