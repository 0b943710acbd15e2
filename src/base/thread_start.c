/* SPDX-License-Identifier: MIT
 * thread_start: see base/thread_start.h. */
#include "base/thread_start.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* From pthread_create(3), EAGAIN means a limit on threads, or no memory for a stack; from
 * epoll_ctl(2), ENOSPC means the limit on watches. */
const char *thread_start_hint(int error)
{
    switch (error) {
    case EAGAIN:
        return " (see ulimit -u, the cgroup's pids.max, kernel.threads-max, kernel.pid_max, "
               "ulimit -v and -d)";
    case ENOMEM:
        return " (see ulimit -v and -d)";
    case EMFILE:
        return " (see ulimit -n)";
    case ENFILE:
        return " (see fs.file-max)";
    case ENOSPC:
        return " (see fs.epoll.max_user_watches)";
    default:
        return "";
    }
}
