/* SPDX-License-Identifier: MIT
 * process_limits: see host/process_limits.h. */
#include "host/process_limits.h"

#include "host/cgroup.h"
#include "host/proc_number.h"
#include "host/sockdiag.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT_LIST_BYTES = 6 << 16 }; /* "65535," for each */

struct rlimit process_limits_most_nofile(const struct rlimit *now, uint64_t nr_open)
{
    const rlim_t most = now->rlim_max < nr_open ? now->rlim_max : (rlim_t)nr_open;

    return (struct rlimit){most, most};
}

uint64_t process_limits_raise_nofile(void)
{
    struct rlimit limit, most;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    most = process_limits_most_nofile(&limit, proc_number("/proc/sys/fs/nr_open", "", 0));
    if (limit.rlim_cur != most.rlim_cur && setrlimit(RLIMIT_NOFILE, &most) == 0)
        return most.rlim_cur;
    return limit.rlim_cur;
}

/* An arena of glibc reserves 64 MiB of address space; a thread without an arena gets whole pages
 * for every block.  M_ARENA_MAX is glibc's only. */
void process_limits_share_malloc(void)
{
#ifdef M_ARENA_MAX
    struct rlimit space;

    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        mallopt(M_ARENA_MAX, 1);
#endif
}

uint32_t process_limits_cpus(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                              : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t quota_milli = cgroup_cpu_quota_milli("/proc");
    const uint64_t n_paid = quota_milli / 1000 + (quota_milli % 1000 != 0);

    return n < 1 ? 1 : n_paid < (uint64_t)n ? (uint32_t)n_paid : (uint32_t)n;
}

uint64_t process_limits_reserved_fds(bool own_fd_tables, uint32_t n_threads)
{
    return PROCESS_LIMITS_RESERVED_FDS +
           (own_fd_tables ? 0 : (uint64_t)n_threads * PROCESS_LIMITS_THREAD_FDS);
}

uint32_t process_limits_workers_for(uint64_t n_connections, uint64_t nofile, uint32_t least)
{
    const uint64_t room =
        nofile > PROCESS_LIMITS_RESERVED_FDS ? nofile - PROCESS_LIMITS_RESERVED_FDS : 1;
    uint64_t needed = n_connections / room + (n_connections % room != 0);

    if (needed < least)
        needed = least;
    if (needed > n_connections)
        needed = n_connections;
    return needed < 1 ? 1 : needed > UINT32_MAX ? UINT32_MAX : (uint32_t)needed;
}

/* Returns the text of a list of ports, which the caller frees; NULL: there is none.  In one
 * read(2): a second one gets nothing, however long the list (proc_do_large_bitmap() in
 * kernel/sysctl.c). */
static char *read_ports(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? malloc(PORT_LIST_BYTES) : NULL;
    const ssize_t n = text != NULL ? read(fd, text, PORT_LIST_BYTES - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

struct exclusion {
    struct srcplan *plan;
    uint32_t n;
};

static void exclude(void *context, uint16_t port)
{
    struct exclusion *e = context;

    e->n += srcplan_exclude_ports(e->plan, port, port);
}

/* "8080,9000-9100", of any length. */
static void exclude_reserved(struct exclusion *e)
{
    char *line = read_ports("/proc/sys/net/ipv4/ip_local_reserved_ports"), *rest = line, *item;
    unsigned first, last;
    int n;

    while ((item = strsep(&rest, ",")) != NULL) {
        n = sscanf(item, "%u-%u", &first, &last);
        if (n == 1)
            last = first;
        if (n >= 1 && last <= UINT16_MAX)
            e->n += srcplan_exclude_ports(e->plan, (uint16_t)first, (uint16_t)last);
    }
    free(line);
}

uint32_t process_limits_exclude_unusable_ports(struct srcplan *plan)
{
    struct exclusion e = {.plan = plan};

    exclude_reserved(&e);
    /* if the kernel does not tell who listens, a tuple in use is replaced when it fails */
    (void)sockdiag_listeners(exclude, &e);
    return e.n;
}

uint32_t process_limits_exclude_unusable_udp_ports(struct srcplan *plan, bool to_all)
{
    struct exclusion e = {.plan = plan};

    exclude_reserved(&e);
    (void)sockdiag_udp_ports(to_all, exclude, &e); /* as above */
    return e.n;
}

int process_limits_parse_cpus(const char *text, struct cpulist *list, char *error)
{
    cpu_set_t set;

    list->n = 0;
    if (text == NULL)
        return 0;
    if (cpulist_parse(text, list, error) != 0)
        return -1;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0; /* a host with more CPUs than the set can hold: pinning will tell */
    for (uint32_t i = 0; i < list->n; i++)
        if (!CPU_ISSET(list->cpus[i], &set)) {
            snprintf(error, CPULIST_ERROR_BYTES,
                     "invalid value '%.80s': CPU %u is not available to this process: expected "
                     "CPUs that 'taskset -cp $$' lists",
                     text, list->cpus[i]);
            return -1;
        }
    return 0;
}
