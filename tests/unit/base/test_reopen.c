/* SPDX-License-Identifier: MIT
 * test_reopen: a file renamed while it is being written. */
#include "base/reopen.h"

#include "directory_steps.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST(test) cmocka_unit_test_setup_teardown(test, make_names, remove_files)

enum { NAME_BYTES = 64, TEXT_BYTES = 64 };

static char name[NAME_BYTES], old[NAME_BYTES];

static int make_names(void **state)
{
    if (make_directory(state) != 0)
        return -1;
    snprintf(name, sizeof name, "%s/rows", directory);
    snprintf(old, sizeof old, "%s/rows.1", directory);
    return 0;
}

static int remove_files(void **state)
{
    unlink(name);
    unlink(old);
    return remove_directory(state);
}

static int open_file(const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void assert_content(const char *path, const char *text)
{
    char got[TEXT_BYTES] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, text);
}

static void what_follows_goes_to_a_new_file_with_its_head(void **state)
{
    const int fd = open_file("head\n1\n");

    (void)state;
    assert_int_equal(rename(name, old), 0);
    assert_int_equal(write(fd, "2\n", 2), 2); /* renamed, not yet reopened */
    assert_int_equal(reopen(fd, name, "head\n"), 0);
    assert_int_equal(write(fd, "3\n", 2), 2);
    assert_content(old, "head\n1\n2\n");
    assert_content(name, "head\n3\n");
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static void a_file_that_was_not_renamed_is_appended_to(void **state)
{
    const int fd = open_file("head\n1\n");

    (void)state;
    assert_int_equal(reopen(fd, name, "head\n"), 0);
    assert_int_equal(write(fd, "2\n", 2), 2);
    assert_content(name, "head\n1\n2\n");
    close(fd);
}

static void a_file_that_cannot_be_made_leaves_the_old_one(void **state)
{
    const int fd = open_file("1\n");

    (void)state;
    assert_int_equal(reopen(fd, "/nonexistent/rows", NULL), -1);
    assert_int_equal(write(fd, "2\n", 2), 2);
    assert_content(name, "1\n2\n");
    close(fd);
}

static void a_pipe_stays_what_it_is(void **state)
{
    char got[TEXT_BYTES];
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(reopen(fds[1], name, "head\n"), 0);
    assert_int_equal(access(name, F_OK), -1);
    assert_int_equal(write(fds[1], "1\n", 2), 2);
    assert_int_equal(read(fds[0], got, sizeof got), 2);
    close(fds[0]);
    close(fds[1]);
}

static void a_partial_line_is_removed(void **state)
{
    static const struct {
        const char *text, *left;
    } cases[] = {{"", ""}, {"head\n1\n", "head\n1\n"}, {"head\n1\n2", "head\n1\n"}, {"hea", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int fd = open_file(cases[i].text);

        reopen_trim(fd);
        assert_content(name, cases[i].left);
        assert_int_equal(rename(name, old), 0);
        assert_int_equal(write(fd, "3", 1), 1);
        reopen_trim(fd); /* whatever its name is */
        assert_content(old, cases[i].left);
        close(fd);
    }
}

/* The part is larger than what is read at a time. */
static void a_long_partial_line_is_removed(void **state)
{
    static char part[10000];
    const int fd = open_file("1\n");

    (void)state;
    memset(part, '2', sizeof part);
    assert_int_equal(write(fd, part, sizeof part), sizeof part);
    reopen_trim(fd);
    assert_content(name, "1\n");
    close(fd);
}

static void what_is_not_a_file_is_not_trimmed(void **state)
{
    char got[TEXT_BYTES];
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "1", 1), 1);
    reopen_trim(fds[1]);
    assert_int_equal(read(fds[0], got, sizeof got), 1);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_follows_goes_to_a_new_file_with_its_head),
        TEST(a_file_that_was_not_renamed_is_appended_to),
        TEST(a_file_that_cannot_be_made_leaves_the_old_one),
        TEST(a_pipe_stays_what_it_is),
        TEST(a_partial_line_is_removed),
        TEST(a_long_partial_line_is_removed),
        TEST(what_is_not_a_file_is_not_trimmed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
