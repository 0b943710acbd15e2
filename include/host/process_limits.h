/* SPDX-License-Identifier: MIT
 * process_limits: the limits of this process and host that determine how many connections fit. */
#ifndef TCPSCALER_HOST_PROCESS_LIMITS_H
#define TCPSCALER_HOST_PROCESS_LIMITS_H

#include "base/cpulist.h"
#include "workload/srcplan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* Fds of a table that are not connections: standard streams, outputs, epoll, eventfds, timerfds,
 * listeners of all workers, and what libraries keep open. */
#define PROCESS_LIMITS_RESERVED_FDS 64u

/* Descriptors of a thread: epoll twice, eventfd, timerfds, a pipe of libevent, and a server's
 * listener. */
#define PROCESS_LIMITS_THREAD_FDS 7u

/* Returns how many fds of a table are not connections: in a table that n_threads share, each has
 * some. */
uint64_t process_limits_reserved_fds(bool own_fd_tables, uint32_t n_threads);

/* The highest RLIMIT_NOFILE to which a process can raise the limit `now`: its hard limit, or
 * fs.nr_open (UINT64_MAX: unknown) if that was lowered since.  Beyond nr_open the kernel opens no
 * descriptor, and refuses to set a limit, even the one in effect. */
struct rlimit process_limits_most_nofile(const struct rlimit *now, uint64_t nr_open);

/* Sets RLIMIT_NOFILE of this process to that, soft and hard.  Returns the limit in effect:
 * the old one if that failed. */
uint64_t process_limits_raise_nofile(void);

/* Under RLIMIT_AS, has all threads share one arena of malloc(3).  Before the first thread. */
void process_limits_share_malloc(void);

/* Number of CPUs this process may run on, >= 1; at most the CPU quota of its cgroups, rounded up.
 */
uint32_t process_limits_cpus(void);

/* Returns how many workers n_connections need if each has room for nofile -
 * PROCESS_LIMITS_RESERVED_FDS: at least `least`, but never more than n_connections, and at least 1.
 */
uint32_t process_limits_workers_for(uint64_t n_connections, uint64_t nofile, uint32_t least);

/* Removes from the plan the kernel's reserved ports (net.ipv4.ip_local_reserved_ports) and
 * listening ports (host/sockdiag.h): binding them succeeds or fails late.  Returns how many were
 * removed. */
uint32_t process_limits_exclude_unusable_ports(struct srcplan *plan);

/* The same for UDP sockets: reserved ports, and those of UDP sockets that are bound to all
 * addresses or, if the sockets of this run will be (`to_all`), to any. */
uint32_t process_limits_exclude_unusable_udp_ports(struct srcplan *plan, bool to_all);

/* cpulist_parse(), and checks that this process may run on each CPU; NULL: an empty list.  Returns
 * 0, or -1 with one line in error (CPULIST_ERROR_BYTES). */
int process_limits_parse_cpus(const char *text, struct cpulist *list, char *error);

#endif
