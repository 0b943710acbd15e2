/* SPDX-License-Identifier: MIT
 * test_process: lines of /proc/PID/stat, and this process. */
#include "host/watch/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static bool parse(struct process *p, const char *name_and_state, const char *n_threads)
{
    char text[300];

    strcpy(text, "30 (");
    strcat(text, name_and_state);
    strcat(text, " 1 30 30 0 -1 4194560 11 22 33 44 700 300 50 20 20 0 ");
    strcat(text, n_threads);
    strcat(text, " 0 987654 1 2\n");
    return process_parse(p, text, 100);
}

static void a_process_is_parsed(void **state)
{
    struct process p;

    (void)state;
    assert_true(parse(&p, "nsd: main) S", "1"));
    assert_int_equal(p.pid, 30);
    assert_int_equal(p.parent, 1);
    assert_int_equal(p.started_ticks, 987654);
    assert_int_equal(p.user_us, 7500000);
    assert_int_equal(p.system_us, 3200000);
    assert_string_equal(p.name, "nsd: main");
    assert_false(p.has_ended);
}

static void a_name_may_look_like_other_fields(void **state)
{
    struct process p;

    (void)state;
    assert_true(parse(&p, ") Z 7 (x) R 2 3) S", "1"));
    assert_string_equal(p.name, ") Z 7 (x) R 2 3");
    assert_int_equal(p.parent, 1);
    assert_false(p.has_ended);
}

static void a_zombie_has_ended_unless_threads_are_left(void **state)
{
    struct process p;

    (void)state;
    assert_true(parse(&p, "x) Z", "1") && p.has_ended);
    assert_true(parse(&p, "x) X", "1") && p.has_ended);
    assert_true(parse(&p, "x) Z", "2") && !p.has_ended);
}

static void invalid_processes_are_refused(void **state)
{
    static const char *const wrong[] = {"", "30", "30 (x", "30 (x) S 1", ") S 1 (", "x (x) S"};
    struct process p;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(process_parse(&p, wrong[i], 100));
}

static void this_process_is_read(void **state)
{
    struct process p;
    uint64_t n_fds;
    int fd;

    (void)state;
    assert_int_equal(process_read(&p, "/proc", getpid()), 0);
    assert_int_equal(p.pid, getpid());
    assert_int_equal(p.parent, getppid());
    assert_true(process_rss_bytes("/proc", getpid()) > 100000);
    assert_true(process_pss_bytes("/proc", getpid()) <= process_rss_bytes("/proc", getpid()));
    n_fds = process_fds("/proc", getpid());
    fd = open("/dev/null", O_RDONLY);
    assert_int_equal(process_fds("/proc", getpid()), n_fds + 1);
    close(fd);
    assert_true(process_shares_network("/proc", getpid()));
}

enum { N_MORE = 5 };

struct opener {
    bool has_own_table;
    pthread_barrier_t opened, counted;
};

static void *open_more(void *arg)
{
    struct opener *o = arg;
    int fds[N_MORE];

    if (o->has_own_table && unshare(CLONE_FILES) != 0)
        abort();
    for (int i = 0; i < N_MORE; i++)
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pthread_barrier_wait(&o->opened);
    pthread_barrier_wait(&o->counted);
    for (int i = 0; i < N_MORE; i++)
        close(fds[i]);
    return NULL;
}

/* Returns the number while another thread has opened more. */
static uint64_t fds_with_thread(bool has_own_table)
{
    struct opener o = {.has_own_table = has_own_table};
    pthread_t thread;
    uint64_t n;

    pthread_barrier_init(&o.opened, NULL, 2);
    pthread_barrier_init(&o.counted, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, open_more, &o), 0);
    pthread_barrier_wait(&o.opened);
    n = process_fds("/proc", getpid());
    pthread_barrier_wait(&o.counted);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&o.opened);
    pthread_barrier_destroy(&o.counted);
    return n;
}

/* A table of its own begins as a copy.  Where the kernel does not count, a list of the main
 * thread's has the one that is open for listing, too. */
static void fds_are_those_of_all_tables(void **state)
{
    const uint64_t n = process_fds("/proc", getpid());

    (void)state;
    if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILES, 0, 0) != 0)
        skip();
    assert_int_equal(fds_with_thread(false), n + N_MORE);
    assert_in_range(fds_with_thread(true), n + n + N_MORE - 1, n + n + N_MORE);
}

static void no_process_is_told_from_an_unreadable_one(void **state)
{
    struct process p;

    (void)state;
    assert_int_equal(process_read(&p, "/nonexistent", 1), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(process_rss_bytes("/nonexistent", 1), PROCESS_UNKNOWN);
    assert_int_equal(process_pss_bytes("/nonexistent", 1), PROCESS_UNKNOWN);
    assert_int_equal(process_fds("/nonexistent", 1), PROCESS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_parsed),
        cmocka_unit_test(a_name_may_look_like_other_fields),
        cmocka_unit_test(a_zombie_has_ended_unless_threads_are_left),
        cmocka_unit_test(invalid_processes_are_refused),
        cmocka_unit_test(this_process_is_read),
        cmocka_unit_test(fds_are_those_of_all_tables),
        cmocka_unit_test(no_process_is_told_from_an_unreadable_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
