/* SPDX-License-Identifier: MIT
 * test_replacement: which files are replaced, and that readers never see a partial file. */
#include "base/replacement.h"

#include "directory_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int enter(void **state)
{
    return make_directory(state) == 0 ? chdir(directory) : -1;
}

static int leave(void **state)
{
    static const char *const names[] = {"a", "a.tmp", "b", "link", "fifo"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    return chdir("/") | remove_directory(state);
}

static void put(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void assert_content(const char *name, const char *expected)
{
    char text[64] = "";
    FILE *in = fopen(name, "r");

    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text, expected);
}

static int begin(const struct replacement *r, const char *text)
{
    const int fd = replacement_begin(r);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void the_old_file_is_there_until_the_new_one_is_whole(void **state)
{
    struct replacement *r;
    int fd;

    (void)state;
    put("a", "old");
    r = replacement_of("a");
    assert_non_null(r);
    fd = begin(r, "new");
    assert_content("a", "old");
    replacement_cancel(r, fd);
    assert_content("a", "old");
    assert_int_equal(access("a.tmp", F_OK), -1);
    assert_int_equal(replacement_end(r, begin(r, "newer")), 0);
    assert_content("a", "newer");
    assert_int_equal(access("a.tmp", F_OK), -1);
    replacement_free(r);
}

static void a_file_need_not_exist(void **state)
{
    struct replacement *r = replacement_of("b");
    int fd;

    (void)state;
    assert_non_null(r);
    fd = begin(r, "new");
    assert_int_equal(access("b", F_OK), -1);
    assert_int_equal(replacement_end(r, fd), 0);
    assert_content("b", "new");
    replacement_free(r);
    unlink("b");
    assert_null(replacement_of("no/such/directory"));
    assert_null(replacement_of("./"));
    assert_null(replacement_of(""));
}

static void what_a_killed_program_left_is_no_obstacle(void **state)
{
    struct replacement *r;

    (void)state;
    put("a", "old");
    put("a.tmp", "a part");
    r = replacement_of("a");
    assert_non_null(r);
    assert_int_equal(replacement_end(r, begin(r, "new")), 0);
    assert_content("a", "new");
    replacement_free(r);
}

static void the_mode_stays(void **state)
{
    struct replacement *r;
    struct stat status;

    (void)state;
    put("a", "old");
    assert_int_equal(chmod("a", 0640), 0);
    r = replacement_of("a");
    assert_non_null(r);
    assert_int_equal(replacement_end(r, begin(r, "new")), 0);
    assert_int_equal(stat("a", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    replacement_free(r);
}

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    struct replacement *r;
    struct stat status;

    (void)state;
    put("a", "old");
    assert_int_equal(symlink("a", "link"), 0);
    r = replacement_of("link");
    assert_non_null(r);
    assert_int_equal(replacement_end(r, begin(r, "new")), 0);
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_content("a", "new");
    replacement_free(r);
    unlink("link");
}

/* If /dev/shm is a mount of its own, the link and its file have different ones. */
static void a_link_to_a_file_on_another_mount_stays_too(void **state)
{
    char file[] = "/dev/shm/test-replacement-XXXXXX";
    const int fd = mkstemp(file);
    struct replacement *r;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(symlink(file, "link"), 0);
    r = replacement_of("link");
    assert_non_null(r);
    assert_int_equal(replacement_end(r, begin(r, "new")), 0);
    assert_content(file, "new");
    replacement_free(r);
    unlink("link");
    unlink(file);
}

/* Whether user 65534 would replace a file; false: write in place. */
static bool nobody_replaces(const char *name)
{
    const pid_t child = fork();
    int status;

    if (child == 0)
        _exit(setuid(65534) == 0 && replacement_of(name) != NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* rename(2) would fail when the result is complete. */
static void files_of_others_in_a_sticky_directory_are_written_in_place(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    put("a", "old");
    put("b.tmp", "of another program");
    assert_int_equal(chmod("a", 0666) | chmod(".", 0777), 0);
    assert_true(nobody_replaces("a") && nobody_replaces("b"));
    assert_int_equal(chmod(".", 01777), 0);
    assert_false(nobody_replaces("a") || nobody_replaces("b"));
    assert_true(nobody_replaces("c")); /* its own */
    assert_int_equal(unlink("b.tmp"), 0);
    assert_true(nobody_replaces("b"));
    assert_int_equal(chmod(".", 0700), 0);
}

static void the_names_of_a_file_in_the_root_directory_are_known(void **state)
{
    char file[] = "/result", temporary[] = "/result.tmp";
    const struct replacement r = {file, temporary};

    (void)state;
    assert_true(replacement_has(&r, "/result") && replacement_has(&r, "//result"));
    assert_true(replacement_has(&r, "/result.tmp"));
    assert_false(replacement_has(&r, "/results"));
}

static void a_directory_with_the_name_of_the_new_file_is_an_obstacle(void **state)
{
    (void)state;
    put("a", "old");
    assert_int_equal(mkdir("a.tmp", 0700), 0);
    assert_null(replacement_of("a"));
    assert_int_equal(rmdir("a.tmp"), 0);
}

static void dangling_links_and_files_that_are_not_regular_are_written_in_place(void **state)
{
    static const char *const names[] = {"link", "fifo", "/dev/null", "/dev/stderr", "/dev/fd/2"};
    const int kept = dup(STDERR_FILENO), file = open("a", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    (void)state;
    assert_int_equal(symlink("nothing", "link"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO); /* a regular file */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(replacement_of(names[i]));
    assert_null(replacement_of("a")); /* it is stderr */
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    close(file);
}

static void the_first_of_two_replacements_at_a_time_fails(void **state)
{
    struct replacement *one, *other;
    int fd, later;

    (void)state;
    put("a", "old");
    one = replacement_of("a");
    other = replacement_of("a");
    assert_non_null(one);
    assert_non_null(other);
    fd = begin(one, "one");
    later = begin(other, "other");
    assert_int_equal(replacement_end(one, fd), -1);
    assert_int_equal(errno, EBUSY);
    assert_content("a", "old");
    assert_int_equal(replacement_end(other, later), 0);
    assert_content("a", "other");
    replacement_free(one);
    replacement_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_old_file_is_there_until_the_new_one_is_whole),
        cmocka_unit_test(a_file_need_not_exist),
        cmocka_unit_test(what_a_killed_program_left_is_no_obstacle),
        cmocka_unit_test(the_mode_stays),
        cmocka_unit_test(a_link_stays_and_its_file_is_replaced),
        cmocka_unit_test(a_link_to_a_file_on_another_mount_stays_too),
        cmocka_unit_test(files_of_others_in_a_sticky_directory_are_written_in_place),
        cmocka_unit_test(the_names_of_a_file_in_the_root_directory_are_known),
        cmocka_unit_test(a_directory_with_the_name_of_the_new_file_is_an_obstacle),
        cmocka_unit_test(dangling_links_and_files_that_are_not_regular_are_written_in_place),
        cmocka_unit_test(the_first_of_two_replacements_at_a_time_fails),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
