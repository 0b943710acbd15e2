/* SPDX-License-Identifier: MIT
 * preflight_threads: see host/preflight_threads.h. */
#include "host/preflight_threads.h"

#include <inttypes.h>
#include <stddef.h>

#define UNKNOWN HOST_LIMITS_UNKNOWN

static uint64_t known(uint64_t n)
{
    return n != UNKNOWN ? n : 0;
}

static void check_host(struct preflight *p, const struct host_limits *host, uint64_t n_threads)
{
    preflight_line_add_sysctl(p, "kernel.threads-max", host->threads_max,
                              known(host->threads_running) + n_threads, PREFLIGHT_STOP);
}

static void check_user(struct preflight *p, const struct host_limits *host, uint64_t n_threads)
{
    struct preflight_line *line;

    if (host->user_threads_max == UNKNOWN)
        return;
    line = preflight_line_add_short(p, "threads of this user", host->user_threads_max,
                                    known(host->user_threads) + n_threads);
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP, "ulimit -u %" PRIu64 ", or use fewer --threads",
                           line->needed);
}

static void check_cgroup(struct preflight *p, const struct host_limits *host, uint64_t n_threads)
{
    struct preflight_line *line;

    if (host->cgroup_threads_max == UNKNOWN)
        return;
    line = preflight_line_add_short(p, "cgroup pids.max", host->cgroup_threads_max,
                                    known(host->cgroup_threads) + n_threads);
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP,
                           "raise %s to %" PRIu64 " (systemd: TasksMax=), or use fewer --threads",
                           cgroup_path_end(host->cgroup_threads_limit), line->needed);
}

void preflight_threads_check(struct preflight *p, const struct host_limits *host,
                             uint64_t n_threads)
{
    check_host(p, host, n_threads);
    check_user(p, host, n_threads);
    check_cgroup(p, host, n_threads);
}

/* Returns how many more threads the limits allow, with the name of the one that allows the fewest.
 */
static uint64_t find_least(const struct host_limits *host, const char **name)
{
    const struct {
        const char *name;
        uint64_t most, used;
    } limits[] = {
        {"kernel.threads-max", host->threads_max, known(host->threads_running)},
        {"ulimit -u", host->user_threads_max, known(host->user_threads)},
        {"the cgroup's pids.max", host->cgroup_threads_max, known(host->cgroup_threads)},
    };
    uint64_t least = UNKNOWN;

    *name = NULL;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const uint64_t left = limits[i].most > limits[i].used ? limits[i].most - limits[i].used : 0;

        if (limits[i].most != UNKNOWN && left < least) {
            least = left;
            *name = limits[i].name;
        }
    }
    return least;
}

uint64_t preflight_threads_left(const struct host_limits *host)
{
    const char *name;

    return find_least(host, &name);
}

const char *preflight_threads_limit(const struct host_limits *host)
{
    const char *name;

    (void)find_least(host, &name);
    return name;
}
