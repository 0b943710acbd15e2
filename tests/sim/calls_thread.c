/* SPDX-License-Identifier: MIT
 * calls_thread: threads are fibers; a pthread_t is the number of one.  Mutexes need no simulation
 * here: no thread sleeps while it holds one. */
#include "call.h"
#include "fiber.h"
#include "violation.h"
#include "world.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

/* A thread that takes longer to end hangs. */
#define MOST_NS (100 * 1000000000ull)

/* Calls the C library's function outside of a run. */
typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_fn(pthread_t, void **);

static create_fn *real_create(void)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    create_fn *create;

    memcpy(&create, &symbol, sizeof create);
    return create;
}

static join_fn *real_join(void)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_join");
    join_fn *join;

    memcpy(&join, &symbol, sizeof join);
    return join;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict arg)
{
    static const int errnos[] = {EAGAIN};
    const int error = CALL_FAULT(world.scenario.start_permille, errnos);

    if (!world.active)
        return real_create()(thread, attributes, run, arg);
    LAW(attributes == NULL, "not simulated: attributes of a thread");
    if (error != 0)
        return error;
    *thread = (pthread_t)fiber_new(run, arg);
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    const uint64_t end_ns = world.now_ns + MOST_NS;

    if (!world.active)
        return real_join()(thread, result);
    while (!fiber_is_done((int)thread)) {
        LAW(world.now_ns < end_ns, "thread %d does not end", (int)thread);
        fiber_sleep(end_ns);
    }
    fiber_forget((int)thread);
    return 0;
}

/* Called by workers that listen or push. */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameters)
{
    (void)pid, (void)policy, (void)parameters;
    return 0;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread;
    (void)name;
    return 0;
}

/* Returns after 1 us, like a spurious wake-up: the caller checks its condition again. */
int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    (void)condition;
    pthread_mutex_unlock(mutex);
    fiber_sleep(world.now_ns + 1000);
    return pthread_mutex_lock(mutex);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}
