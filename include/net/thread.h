/* SPDX-License-Identifier: MIT
 * thread: per-thread resources: a CPU, a file descriptor table, a scheduling policy. */
#ifndef TCPSCALER_NET_THREAD_H
#define TCPSCALER_NET_THREAD_H

#include <stdbool.h>

/* Gives the calling thread its own fd table (unshare(CLONE_FILES)), so that RLIMIT_NOFILE applies
 * to it separately.  Returns 0, or -1 with errno and the table still shared. */
int thread_own_fd_table(void);

/* Returns whether threads of this process can have their own fd tables; if not, sets errno.  Tests
 * it in a new thread; true if none can be started. */
bool thread_can_own_fd_table(void);

/* Pins the calling thread to this CPU; -1: no effect.  Returns 0, or -1 with errno. */
int thread_pin(int cpu);

/* Makes the calling thread wait for a CPU when it wakes up instead of preempting another thread
 * (SCHED_BATCH). Does nothing if not permitted. */
void thread_run_in_batches(void);

#endif
