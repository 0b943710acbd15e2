/* SPDX-License-Identifier: MIT
 * thread: what a thread may have for itself: a CPU, a table of file descriptors, its place in the
 * scheduler's queue. */
#ifndef TCPSCALER_NET_THREAD_H
#define TCPSCALER_NET_THREAD_H

#include <stdbool.h>

/* The fd table of the calling thread becomes its own (unshare(CLONE_FILES)), so that RLIMIT_NOFILE
 * holds for it alone.  Returns 0 or -1 (errno): the table stays shared. */
int thread_own_fd_table(void);

/* Whether threads of this process may have their own fd tables, else with errno; tries it in a
 * thread. */
bool thread_can_own_fd_table(void);

/* Pins the calling thread to this CPU; -1: leaves it alone.  Returns 0, or -1 with errno. */
int thread_pin(int cpu);

/* The calling thread, when it wakes up, waits for a CPU instead of taking it from another thread
 * (SCHED_BATCH).  Where it may not, nothing changes. */
void thread_run_in_batches(void);

#endif
