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

static uint64_t threads_of(const struct preflight_threads *ask)
{
    return (uint64_t)ask->n_workers + ask->n_helpers;
}

static void check_host(struct preflight *p, const struct host_limits *host,
                       const struct preflight_threads *ask)
{
    const uint64_t needed = known(host->threads_running) + threads_of(ask);

    preflight_line_add_sysctl(p, "kernel.threads-max", host->threads_max, needed, PREFLIGHT_STOP);
    if (host->pid_max < host->threads_max)
        preflight_line_add_sysctl(p, "kernel.pid_max", host->pid_max, needed, PREFLIGHT_STOP);
}

/* Returns a remedy other than a higher limit. */
static const char *other_remedy(const struct preflight_line *line,
                                const struct preflight_threads *ask)
{
    const uint64_t n_missing = line->needed - line->available;

    if (ask->n_workers >= ask->least_workers + n_missing)
        return ", or use fewer --threads";
    return ask->least_workers > 1 ? ", or use fewer connections, which need fewer threads" : "";
}

static void check_user(struct preflight *p, const struct host_limits *host,
                       const struct preflight_threads *ask)
{
    struct preflight_line *line;

    if (host->user_threads_max == UNKNOWN)
        return;
    line = preflight_line_add_short(p, "threads of this user", host->user_threads_max,
                                    known(host->user_threads) + threads_of(ask));
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP, "ulimit -u %" PRIu64 "%s", line->needed,
                           other_remedy(line, ask));
}

static void check_cgroup(struct preflight *p, const struct host_limits *host,
                         const struct preflight_threads *ask)
{
    struct preflight_line *line;

    if (host->cgroup_threads_max == UNKNOWN)
        return;
    line = preflight_line_add_short(p, "cgroup pids.max", host->cgroup_threads_max,
                                    known(host->cgroup_threads) + threads_of(ask));
    if (line != NULL)
        preflight_line_fix(line, PREFLIGHT_STOP, "raise %s to %" PRIu64 " (systemd: TasksMax=)%s",
                           cgroup_path_end(host->cgroup_threads_limit), line->needed,
                           other_remedy(line, ask));
}

void preflight_threads_check(struct preflight *p, const struct host_limits *host,
                             const struct preflight_threads *ask)
{
    check_host(p, host, ask);
    check_user(p, host, ask);
    check_cgroup(p, host, ask);
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
        {"kernel.pid_max", host->pid_max, known(host->threads_running)},
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
