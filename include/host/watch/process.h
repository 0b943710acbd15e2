/* SPDX-License-Identifier: MIT
 * process: one process of this host and what it uses, from proc_pid(5).  `proc` is "/proc".  Any
 * thread. */
#ifndef TCPSCALER_HOST_WATCH_PROCESS_H
#define TCPSCALER_HOST_WATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_NAME_BYTES 64
#define PROCESS_UNKNOWN    UINT64_MAX

struct process {
    int pid, parent;
    uint64_t started_ticks;        /* since boot: with the pid it identifies a process */
    bool has_ended;                /* is a zombie */
    char name[PROCESS_NAME_BYTES]; /* any bytes: a program chooses it */
    uint64_t user_us, system_us;   /* of its threads and of the children it has waited for */
    /* of these: of the children */
    uint64_t user_of_children_us, system_of_children_us;
};

/* Parses /proc/PID/stat; false: it is not such a text. */
bool process_parse(struct process *p, const char *stat, uint64_t ticks_per_s);

/* Reads a process.  Returns 0; or -1 with errno: ENOENT or ESRCH if there is none. */
int process_read(struct process *p, const char *proc, int pid);

/* Whether both are the same process. */
static inline bool process_is(const struct process *a, const struct process *b)
{
    return a->pid == b->pid && a->started_ticks == b->started_ticks;
}

/* Each returns PROCESS_UNKNOWN if not readable, such as for a process of another user. */
uint64_t process_rss_bytes(const char *proc, int pid);
/* Walks all pages of the process and holds its memory map meanwhile: milliseconds per GiB. */
uint64_t process_pss_bytes(const char *proc, int pid);
/* In the tables of all threads.  kcmp(2), which needs the permissions of a debugger, tells
 * whether a thread has its own table; without it, all threads are assumed to share one.  Before
 * Linux 6.2, lists all descriptors. */
uint64_t process_fds(const char *proc, int pid);

/* Whether it has the network namespace of this process; true if unknown. */
bool process_shares_network(const char *proc, int pid);

#endif
