/* SPDX-License-Identifier: MIT
 * host_limits: see host/limits.h. */
#include "host/limits.h"

#include "base/textfile.h"
#include "host/meminfo.h"
#include "host/proc_number.h"
#include "host/user_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PROC_BYTES = 1 << 22 };

static uint64_t read_sysctl(const char *name, unsigned nth)
{
    char path[128];

    snprintf(path, sizeof path, "/proc/sys/%s", name);
    return proc_number(path, "", nth);
}

/* capabilities(7) */
enum { CAP_NET_BIND_SERVICE = 10, CAP_SYS_ADMIN = 21, CAP_SYS_RESOURCE = 24 };

static bool has_capability(unsigned number)
{
    char line[256];
    uint64_t effective = 0;
    FILE *f = fopen("/proc/self/status", "re");

    if (f == NULL)
        return geteuid() == 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "CapEff: %" SCNx64, &effective) == 1)
            break;
    fclose(f);
    return effective >> number & 1;
}

static const char uid_map[] = "/proc/self/uid_map";

static bool is_root_outside(void)
{
    const uint64_t outside = proc_number(uid_map, "", 1);

    return outside == 0 || outside == PROC_NUMBER_UNKNOWN;
}

/* "0 0 4294967295", see user_namespaces(7). */
static bool is_outside_of_user_namespaces(void)
{
    return is_root_outside() && proc_number(uid_map, "", 2) >= UINT32_MAX;
}

/* systemd sets it to LONG_MAX. */
static uint64_t read_file_max(void)
{
    const uint64_t n = read_sysctl("fs/file-max", 0);

    return n < INT64_MAX ? n : HOST_LIMITS_UNKNOWN;
}

static void read_files(struct host_limits *host)
{
    struct rlimit limit;

    host->nofile = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : HOST_LIMITS_UNKNOWN;
    host->nr_open = read_sysctl("fs/nr_open", 0);
    host->file_max = read_file_max();
    /* proc_sys_fs(5), "file-max" */
    host->is_exempt_from_file_max =
        has_capability(CAP_SYS_ADMIN) && is_outside_of_user_namespaces();
    host->files_open = read_sysctl("fs/file-nr", 0);
    host->epoll_watches = read_sysctl("fs/epoll/max_user_watches", 0);
}

/* Reads a file of /proc; NULL, or a text that the caller frees. */
static char *read_proc(const char *path)
{
    size_t n_bytes;

    return textfile_read(path, MOST_PROC_BYTES, &n_bytes);
}

static void read_machine(struct host_limits *host)
{
    char *zones = read_proc("/proc/zoneinfo"), *text = read_proc("/proc/meminfo");
    struct meminfo m = {.total_bytes = MEMINFO_UNKNOWN, .free_bytes = MEMINFO_UNKNOWN};

    if (text != NULL)
        meminfo_parse(&m, text);
    host->memory_total_bytes = m.total_bytes;
    host->memory_available_bytes =
        meminfo_left(&m, zones != NULL ? meminfo_reserve_bytes(zones, host->page_bytes) : 0);
    free(zones);
    free(text);
}

static void read_cgroup(struct host_limits *host)
{
    struct cgroup_memory memory;

    host->cgroup_available_bytes = host->cgroup_limit_bytes = HOST_LIMITS_UNKNOWN;
    host->cgroup_is_v2 = false;
    host->cgroup_limit[0] = '\0';
    cgroup_memory_open(&memory, "/proc");
    for (unsigned i = 0; i < memory.n; i++) {
        struct cgroup_reading r = cgroup_limit_read(&memory.limits[i]);
        uint64_t left;

        r.cache_bytes = cgroup_limit_cache_bytes(&memory.limits[i]);
        left = cgroup_reading_left(&r);
        if (left >= host->cgroup_available_bytes)
            continue;
        host->cgroup_available_bytes = left;
        host->cgroup_limit_bytes = r.limit_bytes;
        host->cgroup_is_v2 = memory.limits[i].is_v2;
        memcpy(host->cgroup_limit, memory.limits[i].path, sizeof host->cgroup_limit);
    }
    cgroup_memory_close(&memory);
}

/* Not read or not set: unlimited. */
static const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

static uint64_t soft_limit(const struct rlimit *limit)
{
    return limit->rlim_cur != RLIM_INFINITY ? limit->rlim_cur : HOST_LIMITS_UNKNOWN;
}

/* RLIMIT_NPROC applies neither to root nor with these capabilities, getrlimit(2); in a user
 * namespace, where others are root, it does (Linux, copy_process()). */
static bool is_exempt_from_nproc(void)
{
    if (getuid() == 0)
        return is_root_outside();
    return is_outside_of_user_namespaces() &&
           (has_capability(CAP_SYS_ADMIN) || has_capability(CAP_SYS_RESOURCE));
}

static void read_user_threads(struct host_limits *host, uint64_t user)
{
    struct rlimit limit = unlimited;

    (void)getrlimit(RLIMIT_NPROC, &limit);
    host->user_threads_max = soft_limit(&limit);
    host->user_threads = host->user_threads_max != HOST_LIMITS_UNKNOWN
                             ? user_threads_count("/proc", user)
                             : HOST_LIMITS_UNKNOWN;
}

void host_limits_of_user(struct host_limits *host, uint64_t user)
{
    read_user_threads(host, user);
    if (user != 0)
        host->is_exempt_from_file_max = false;
    if (host->user_threads != HOST_LIMITS_UNKNOWN && user != getuid())
        host->user_threads++; /* this one */
}

/* PID_NS_INIT_INO in include/uapi/linux/nsfs.h */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

/* Since Linux 6.14 each PID namespace has its own, but how many threads it has is unknown. */
static uint64_t read_pid_max(void)
{
    struct stat about;

    return stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == FIRST_PID_NAMESPACE
               ? read_sysctl("kernel/pid_max", 0)
               : HOST_LIMITS_UNKNOWN;
}

static void read_threads(struct host_limits *host)
{
    const struct cgroup_pids pids = cgroup_pids_read("/proc");

    host->threads_max = read_sysctl("kernel/threads-max", 0);
    host->pid_max = read_pid_max();
    /* "0.20 0.18 0.12 1/80 11206": 80 threads, proc_loadavg(5) */
    host->threads_running = proc_number_named("/proc/loadavg", "", "/");
    host->user_threads_max = host->user_threads = HOST_LIMITS_UNKNOWN;
    if (!is_exempt_from_nproc())
        read_user_threads(host, getuid());
    host->cgroup_threads_max = pids.limit;
    host->cgroup_threads = pids.used;
    memcpy(host->cgroup_threads_limit, pids.path, sizeof host->cgroup_threads_limit);
}

static uint64_t less_mapped(const struct rlimit *of, const char *mapped)
{
    const uint64_t limit = soft_limit(of), kib = proc_number("/proc/self/status", mapped, 0);

    if (limit == HOST_LIMITS_UNKNOWN || kib == HOST_LIMITS_UNKNOWN)
        return limit;
    return limit > kib * 1024 ? limit - kib * 1024 : 0;
}

/* Since Linux 4.7, RLIMIT_DATA limits all private writable mappings, thread stacks included
 * (may_expand_vm()).  Once they run, the programs map nothing else: VmData and VmSize grow by the
 * same amount. */
static void read_address_space(struct host_limits *host)
{
    struct rlimit all = unlimited, data = unlimited;
    uint64_t data_bytes;

    (void)getrlimit(RLIMIT_AS, &all);
    (void)getrlimit(RLIMIT_DATA, &data);
    host->address_space_bytes = less_mapped(&all, "VmSize:");
    data_bytes = less_mapped(&data, "VmData:");
    host->data_is_limit = data_bytes < host->address_space_bytes;
    if (host->data_is_limit)
        host->address_space_bytes = data_bytes;
}

static void read_memory(struct host_limits *host)
{
    struct rlimit stack = unlimited;

    (void)getrlimit(RLIMIT_STACK, &stack);
    host->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    read_machine(host);
    read_cgroup(host);
    read_address_space(host);
    host->thread_stack_bytes = soft_limit(&stack);
    host->tcp_pages_max = read_sysctl("net/ipv4/tcp_mem", 2);
    host->tcp_pages_used = proc_number_named("/proc/net/sockstat", "TCP:", " mem ");
}

/* Below 0: this network namespace shares the host's table. */
static uint64_t read_hash_entries(void)
{
    FILE *f = fopen("/proc/sys/net/ipv4/tcp_ehash_entries", "re");
    int64_t n = 0;

    if (f == NULL)
        return HOST_LIMITS_UNKNOWN;
    if (fscanf(f, "%" SCNd64, &n) != 1)
        n = 0;
    fclose(f);
    return n == 0 ? HOST_LIMITS_UNKNOWN : (uint64_t)llabs(n);
}

/* Whether not even root can write it, as in a network namespace. */
static bool is_read_only(const char *sysctl)
{
    struct stat about;
    char path[128];

    snprintf(path, sizeof path, "/proc/sys/%s", sysctl);
    return stat(path, &about) == 0 && (about.st_mode & S_IWUSR) == 0;
}

/* Tries it: the capability counts only in the user namespace to which the network belongs. */
static bool may_bind_privileged(void)
{
    const struct sockaddr_in lowest = {.sin_family = AF_INET, .sin_port = htons(1)};
    bool is_permitted = has_capability(CAP_NET_BIND_SERVICE);
    const int fd = is_permitted ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

    if (fd < 0)
        return is_permitted;
    if (bind(fd, (const struct sockaddr *)&lowest, sizeof lowest) != 0)
        is_permitted = errno != EACCES && errno != EPERM;
    close(fd);
    return is_permitted;
}

static uint64_t read_sockets_in_use(void)
{
    const uint64_t of_ipv4 = proc_number_named("/proc/net/sockstat", "TCP:", " inuse ");
    const uint64_t of_ipv6 = proc_number_named("/proc/net/sockstat6", "TCP6:", " inuse ");

    return of_ipv4 == HOST_LIMITS_UNKNOWN || of_ipv6 == HOST_LIMITS_UNKNOWN ? of_ipv4
                                                                            : of_ipv4 + of_ipv6;
}

static void read_tcp(struct host_limits *host)
{
    host->first_ephemeral_port = read_sysctl("net/ipv4/ip_local_port_range", 0);
    host->last_ephemeral_port = read_sysctl("net/ipv4/ip_local_port_range", 1);
    host->first_unprivileged_port = read_sysctl("net/ipv4/ip_unprivileged_port_start", 0);
    host->may_bind_privileged = may_bind_privileged();
    host->sockets_in_use = read_sockets_in_use();
    host->sockets_in_time_wait = proc_number_named("/proc/net/sockstat", "TCP:", " tw ");
    host->time_wait_buckets = read_sysctl("net/ipv4/tcp_max_tw_buckets", 0);
    host->orphans_max = read_sysctl("net/ipv4/tcp_max_orphans", 0);
    host->somaxconn = read_sysctl("net/core/somaxconn", 0);
    host->syn_backlog = read_sysctl("net/ipv4/tcp_max_syn_backlog", 0);
    host->syn_cookies = read_sysctl("net/ipv4/tcp_syncookies", 0);
    host->abort_on_overflow = read_sysctl("net/ipv4/tcp_abort_on_overflow", 0);
    host->synack_retries = read_sysctl("net/ipv4/tcp_synack_retries", 0);
    host->tcp_timestamps = read_sysctl("net/ipv4/tcp_timestamps", 0);
    host->tcp_hash_entries = read_hash_entries();
    host->conntrack_max = read_sysctl("net/netfilter/nf_conntrack_max", 0);
    host->conntrack_used = read_sysctl("net/netfilter/nf_conntrack_count", 0);
    host->conntrack_max_is_of_host = is_read_only("net/netfilter/nf_conntrack_max");
}

void host_limits_read(struct host_limits *host)
{
    read_files(host);
    read_threads(host);
    read_memory(host);
    read_tcp(host);
}
