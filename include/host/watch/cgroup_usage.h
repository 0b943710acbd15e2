/* SPDX-License-Identifier: MIT
 * cgroup_usage: the processes of a control group and the memory charged to them, of version 1 and
 * 2.  See the kernel's Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.  Any
 * thread. */
#ifndef TCPSCALER_HOST_WATCH_CGROUP_USAGE_H
#define TCPSCALER_HOST_WATCH_CGROUP_USAGE_H

#include "host/watch/cgroup_find.h"

#define CGROUP_USAGE_UNKNOWN UINT64_MAX

/* Each may be CGROUP_USAGE_UNKNOWN. */
struct cgroup_usage {
    uint64_t bytes;        /* all that is charged, page cache included */
    uint64_t user_bytes;   /* anonymous memory */
    uint64_t kernel_bytes; /* kernel objects and socket buffers */
    uint64_t socket_bytes; /* of these: socket buffers */
};

/* The files that a group with memory figures has, by version. */
extern const char *const cgroup_usage_files[2];

/* Includes the groups below it. */
void cgroup_usage_read(struct cgroup_usage *u, const struct cgroup_group *memory);

/* Calls back for every process of the group in this directory and the groups below it, down to 8
 * levels.  Returns 0, or -1 with errno if the directory is not readable. */
int cgroup_processes(const char *directory, void (*on_process)(void *context, int pid),
                     void *context);

#endif
