/* SPDX-License-Identifier: MIT
 * test_thread: what a thread can have of its own. */
#include "net/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void in_thread(void *(*body)(void *), void *arg)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- a CPU --- */

struct pinned {
    int cpu, status;
    cpu_set_t cpus;
};

static void *pin(void *arg)
{
    struct pinned *p = arg;

    p->status = thread_pin(p->cpu);
    sched_getaffinity(0, sizeof p->cpus, &p->cpus);
    return NULL;
}

static void a_thread_runs_on_its_cpu_only(void **state)
{
    struct pinned p = {.cpu = -1};
    cpu_set_t before;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    in_thread(pin, &p);
    assert_int_equal(p.status, 0);
    assert_true(CPU_EQUAL(&p.cpus, &before));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before)) {
            p.cpu = (int)cpu;
            in_thread(pin, &p);
            assert_int_equal(p.status, 0);
            assert_int_equal(CPU_COUNT(&p.cpus), 1);
            assert_true(CPU_ISSET(cpu, &p.cpus));
        }
    p.cpu = CPU_SETSIZE; /* there is none */
    in_thread(pin, &p);
    assert_int_equal(p.status, -1);
}

/* --- a scheduling policy --- */

static void *run_in_batches(void *arg)
{
    thread_run_in_batches();
    *(int *)arg = sched_getscheduler(0);
    return NULL;
}

static void a_thread_runs_in_batches_and_the_others_do_not(void **state)
{
    const int before = sched_getscheduler(0);
    int policy;

    (void)state;
    if (before < 0)
        skip(); /* musl has no such call */
    in_thread(run_in_batches, &policy);
    assert_int_equal(policy, SCHED_BATCH);
    assert_int_equal(sched_getscheduler(0), before);
}

/* --- a table of descriptors --- */

static void *try_table(void *arg)
{
    *(int *)arg = thread_own_fd_table() == 0 ? 0 : errno;
    return NULL;
}

static void fd_tables_are_available_if_a_thread_gets_one(void **state)
{
    int error;
    bool can;

    (void)state;
    in_thread(try_table, &error);
    errno = 0;
    can = thread_can_own_fd_table();
    assert_int_equal(errno, error);
    assert_int_equal(can, error == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_runs_on_its_cpu_only),
        cmocka_unit_test(a_thread_runs_in_batches_and_the_others_do_not),
        cmocka_unit_test(fd_tables_are_available_if_a_thread_gets_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
