/* SPDX-License-Identifier: MIT
 * test_fd_table: the descriptors that are left, however the others are closed. */
#include "net/fd_table.h"

#include "base/standard_streams.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_FDS = 400 };

/* What this host lacks. */
static bool lacks_close_range, lacks_proc;

int close_range(unsigned first, unsigned last, int flags);

int close_range(unsigned first, unsigned last, int flags)
{
    if (!lacks_close_range)
        return (int)syscall(SYS_close_range, first, last, flags);
    errno = ENOSYS;
    return -1;
}

DIR *opendir(const char *name)
{
    if (!lacks_proc)
        return fdopendir(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    errno = ENOENT;
    return NULL;
}

static bool is_in(int fd, const int *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == fd)
            return true;
    return false;
}

/* In a process of its own.  Returns the first descriptor that is open and should not be, or the
 * reverse; -1: none. */
static int first_wrong(int own, const int *keep, uint32_t n, const int *left, size_t n_left)
{
    static const int opened[] = {3, 4, 5, 6, 9, 10, 100, 101, 102, 300};
    const struct rlimit limit = {N_FDS, N_FDS};

    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (dup2(STDERR_FILENO, opened[i]) < 0)
            return opened[i];
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return N_FDS;
    fd_table_keep_only(own, keep, n);
    for (int fd = 0; fd < N_FDS; fd++)
        if ((fcntl(fd, F_GETFD) >= 0) != (fd <= STDERR_FILENO || is_in(fd, left, n_left)))
            return fd;
    return -1;
}

static void assert_left(int own, const int *keep, uint32_t n, const int *left, size_t n_left)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        const int wrong = first_wrong(own, keep, n, left, n_left);

        if (wrong >= 0)
            print_error("descriptor %d is wrong\n", wrong);
        _exit(wrong >= 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void assert_only_those_to_be_kept_are_left(void)
{
    static const int keep[] = {101, -1, 300, 5, 9, 5, 2}, left[] = {5, 9, 10, 101, 300};
    static const int first_and_second[] = {4, 3};

    assert_left(10, keep, 7, left, 5);
    assert_left(3, NULL, 0, first_and_second + 1, 1);
    assert_left(-1, first_and_second, 2, first_and_second, 2);
    assert_left(-1, NULL, 0, NULL, 0);
}

static void others_are_closed_by_close_range(void **state)
{
    (void)state;
    lacks_close_range = lacks_proc = false;
    assert_only_those_to_be_kept_are_left();
}

static void others_are_closed_as_proc_lists_them(void **state)
{
    (void)state;
    lacks_close_range = true;
    lacks_proc = false;
    assert_only_those_to_be_kept_are_left();
}

static void others_are_closed_one_by_one(void **state)
{
    (void)state;
    lacks_close_range = lacks_proc = true;
    assert_only_those_to_be_kept_are_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_closed_by_close_range),
        cmocka_unit_test(others_are_closed_as_proc_lists_them),
        cmocka_unit_test(others_are_closed_one_by_one),
    };

    standard_streams_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
