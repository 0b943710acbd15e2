/* SPDX-License-Identifier: MIT
 * thread: see net/thread.h. */
#include "net/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

int thread_own_fd_table(void)
{
#ifdef TCPSCALER_ONE_FD_TABLE /* ThreadSanitizer mistakes fd 5 of two tables for one file */
    errno = ENOSYS;
    return -1;
#else
    return unshare(CLONE_FILES);
#endif
}

static void *try_own_fd_table(void *arg)
{
    *(int *)arg = thread_own_fd_table() == 0 ? 0 : errno;
    return NULL;
}

bool thread_can_own_fd_table(void)
{
    pthread_t thread;
    int error;

    if (pthread_create(&thread, NULL, try_own_fd_table, &error) != 0)
        return true; /* a limit on threads says nothing about fd tables */
    pthread_join(thread, NULL);
    errno = error;
    return error == 0;
}

int thread_pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return 0;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

void thread_run_in_batches(void)
{
    const struct sched_param none = {0};

    sched_setscheduler(0, SCHED_BATCH, &none);
}
