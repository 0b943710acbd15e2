/* SPDX-License-Identifier: MIT
 * test_user_threads: the threads of a user, counted in a tree of files that looks like /proc. */
#include "host/user_threads.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char proc[32];

/* Creates the directory of a process; its file only if there is a text. */
static void put(const char *process, const char *status)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "%s/%.8s", proc, process);
    assert_int_equal(mkdir(path, 0700), 0);
    if (status == NULL)
        return;
    snprintf(path, sizeof path, "%s/%.8s/status", proc, process);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(status, f);
    fclose(f);
}

static int make_proc(void **state)
{
    (void)state;
    strcpy(proc, "/tmp/test_user_threads.XXXXXX");
    return mkdtemp(proc) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int remove_proc(void **state)
{
    (void)state;
    return nftw(proc, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void threads_of_its_real_user_count(void **state)
{
    (void)state;
    put("1", "Name:\tinit\nUid:\t0\t0\t0\t0\nThreads:\t1\n");
    put("20", "Name:\ta\nUid:\t1000\t1000\t1000\t1000\nThreads:\t30\n");
    put("21", "Name:\tb\nUid:\t1000\t0\t0\t0\nThreads:\t2\n"); /* set-user-ID */
    put("22", "Name:\tc\nUid:\t0\t1000\t1000\t1000\nThreads:\t5\n");
    put("23", "Name:\td\nUid:\t10001\t0\t0\t0\nThreads:\t7\n");
    put("24", NULL); /* it has just ended */
    put("self", "Name:\ta\nUid:\t1000\t1000\t1000\t1000\nThreads:\t30\n");
    assert_int_equal(user_threads_count(proc, 1000), 32);
    assert_int_equal(user_threads_count(proc, 0), 6);
    assert_int_equal(user_threads_count(proc, 5), 0);
    assert_int_equal(user_threads_count("/nonexistent", 1000), 0);
}

static void this_process_has_a_thread(void **state)
{
    (void)state;
    assert_true(user_threads_count("/proc", getuid()) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_of_its_real_user_count, make_proc, remove_proc),
        cmocka_unit_test(this_process_has_a_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
