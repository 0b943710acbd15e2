/* SPDX-License-Identifier: MIT
 * thread: what a thread may have for itself: a CPU, a table of file descriptors, its place in the
 * scheduler's queue. */
#ifndef TCPSCALER_NET_THREAD_H
#define TCPSCALER_NET_THREAD_H

#include <stdbool.h>

/* Gives the calling thread its own fd table (unshare(CLONE_FILES)), so that RLIMIT_NOFILE applies
 * to it separately.  Returns 0, or -1 with errno and the table still shared. */
int thread_own_fd_table(void);

/* Whether threads of this process can have their own fd tables; if not, sets errno.  Tries it in a
 * thread. */
bool thread_can_own_fd_table(void);

/* Pins the calling thread to this CPU; -1: leaves it alone.  Returns 0, or -1 with errno. */
int thread_pin(int cpu);

/* Makes the calling thread wait for a CPU when it wakes up instead of preempting another thread
 * (SCHED_BATCH). Does nothing if not permitted. */
void thread_run_in_batches(void);

#endif
