/* SPDX-License-Identifier: MIT
 * process_list: the processes of a server, which come and go: those of a tree, and those of a
 * control group.  One thread. */
#ifndef TCPSCALER_HOST_WATCH_PROCESS_LIST_H
#define TCPSCALER_HOST_WATCH_PROCESS_LIST_H

#include "host/watch/process.h"

#include <stddef.h>

enum { PROCESS_LIST_MOST = 1024 };

struct process_list {
    struct process items[PROCESS_LIST_MOST];
    size_t n;
    uint64_t user_us, system_us; /* of those listed and those that have ended: only grows */
    /* of these, that of processes that have ended and whose parents have not waited for them yet */
    uint64_t user_ended_us, system_ended_us;
    bool is_overfull; /* a process was left out, because the list was full */
};

/* Adds a process unless it is listed or the list is full. */
void process_list_add(struct process_list *l, const struct process *p);

bool process_list_has(const struct process_list *l, int pid);

/* Reads all listed processes again, removes those that have ended, and adds up their CPU time: of
 * an ended process up to the last time it was read. */
void process_list_read(struct process_list *l, const char *proc);

/* Adds the children of listed processes, and theirs.  Reads one file per process of this host.
 * Returns 0, or -1 with errno. */
int process_list_add_children(struct process_list *l, const char *proc);

#endif
