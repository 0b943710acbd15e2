/* SPDX-License-Identifier: MIT
 * test_output_reopen: outputs that are not requested, started over, or continued in a new file. */
#include "base/output.h"

#include "base/log.h"
#include "output_steps.h"
#include "print_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* An output whose option was not given. */
static void without_a_name_nothing_is_opened(void **state)
{
    struct output o;

    (void)state;
    assert_int_equal(output_open_document(&o, "json", NULL), 0);
    assert_null(o.stream);
    assert_int_equal(output_begin(&o), 0);
    assert_int_equal(output_close(&o), 0);
}

static void a_file_that_cannot_be_emptied_is_named(void **state)
{
    char a[PATH_BYTES], expected[PATH_BYTES + 80], *said;
    struct output o;
    int read_only;

    (void)state;
    unlink(path_of(a, "a"));
    assert_int_equal(output_open_log(&o, "json", a), 0);
    read_only = open(a, O_RDONLY);
    assert_int_equal(dup2(read_only, o.fd), o.fd);
    log_set_stream(print_open());
    assert_int_equal(output_begin(&o), -1);
    log_set_stream(NULL);
    said = print_close();
    snprintf(expected, sizeof expected, "--json: cannot write '%s': Invalid argument\n", a);
    assert_has(said, expected);
    free(said);
    close(read_only);
    assert_int_equal(output_close(&o), 0);
}

/* One line says so, and the document is there. */
static void a_document_follows_the_last_one_if_it_cannot_take_its_place(void **state)
{
    char a[PATH_BYTES], expected[PATH_BYTES + 80], text[16] = "", *said;
    const int sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
    struct output o;

    (void)state;
    unlink(path_of(a, "a"));
    assert_int_equal(output_open_log(&o, "json", a), 0);
    assert_int_equal(write(sealed, "old\n", 4), 4);
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(dup2(sealed, o.fd), o.fd);
    log_set_stream(print_open());
    assert_int_equal(output_put_document(&o, strdup("new\n"), 4), -1);
    log_set_stream(NULL);
    said = print_close();
    snprintf(expected, sizeof expected, ": --json: cannot write '%s': Operation not permitted\n",
             a);
    assert_string_equal(strchr(said, ':'), expected);
    assert_int_equal(pread(sealed, text, sizeof text, 0), 8);
    assert_string_equal(text, "old\nnew\n");
    free(said);
    close(sealed);
    assert_int_equal(output_close(&o), 0);
}

static void a_reopened_output_continues_in_a_new_file(void **state)
{
    struct output o = OUTPUT_CLOSED;
    char a[PATH_BYTES], b[PATH_BYTES];

    (void)state;
    output_reopen(&o, "head\n"); /* not open: no effect */
    assert_int_equal(output_open_log(&o, "json", path_of(a, "a")), 0);
    assert_int_equal(output_begin(&o), 0);
    fputs("old", o.stream);
    assert_int_equal(rename(a, path_of(b, "b")), 0);
    output_reopen(&o, "head\n");
    fputs("new", o.stream);
    assert_int_equal(output_close(&o), 0);
    assert_content(b, "old");
    assert_content(a, "head\nnew");
}

/* The limit on the size of a file stands for a disk that is full for a while. */
static void an_output_that_failed_is_written_again_when_reopened(void **state)
{
    const struct rlimit small = {3, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
    struct output o = OUTPUT_CLOSED;
    char a[PATH_BYTES], b[PATH_BYTES], expected[PATH_BYTES + 80], *said;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    unlink(path_of(a, "a"));
    assert_int_equal(output_open_log(&o, "json", a), 0);
    assert_int_equal(output_begin(&o), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    output_put(&o, strdup("lost\n"), 5);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &large), 0);
    output_put(&o, strdup("lost too\n"), 9);
    assert_int_equal(rename(a, path_of(b, "b")), 0);
    log_set_stream(print_open());
    output_reopen(&o, "head\n");
    log_set_stream(NULL);
    said = print_close();
    snprintf(expected, sizeof expected,
             "--json: could not write '%s': File too large; 2 lines are ", a);
    assert_has(said, expected);
    free(said);
    output_put(&o, strdup("new\n"), 4);
    assert_int_equal(output_close(&o), -1); /* lines are missing */
    assert_content(b, "");                  /* no part of a line */
    assert_content(a, "head\nnew\n");
}

/* Another part, such as the writer of rows, has the descriptor; the file keeps its name. */
static void failed_writes_of_others_to_the_descriptor_are_reported(void **state)
{
    struct output o = OUTPUT_CLOSED;
    char a[PATH_BYTES], expected[PATH_BYTES + 80], *said;
    int fd;

    (void)state;
    unlink(path_of(a, "a"));
    assert_int_equal(output_open_log(&o, "output", a), 0);
    assert_true(output_is_rotated(&o));
    fd = output_fd(&o);
    assert_int_equal(write(fd, "hea", 3), 3);
    output_fail(&o, ENOSPC);
    log_set_stream(print_open());
    output_reopen(&o, "head\n");
    log_set_stream(NULL);
    said = print_close();
    snprintf(expected, sizeof expected, "--output: could not write '%s': No space left on device\n",
             a);
    assert_has(said, expected);
    free(said);
    assert_int_equal(write(fd, "1\n", 2), 2);
    assert_int_equal(output_close(&o), -1); /* something is missing */
    assert_content(a, "head\n1\n");
}

static void a_loss_is_said_once_until_it_is_reopened(void **state)
{
    struct output o;
    char a[PATH_BYTES], once[PATH_BYTES + 120], expected[2 * sizeof once], *said;

    (void)state;
    assert_int_equal(output_open_log(&o, "output", path_of(a, "a")), 0);
    log_set_stream(print_open());
    output_say_lost(&o, 0, "rows", true);
    for (int i = 0; i < 2; i++) {
        output_say_lost(&o, ENOSPC, "rows", true);
        output_say_lost(&o, ENOSPC, "rows", true);
        output_reopen(&o, NULL);
    }
    log_set_stream(NULL);
    said = print_close();
    snprintf(once, sizeof once,
             "test_output_reopen: --output: cannot write '%s': No space left on device; rows are "
             "lost until SIGHUP\n",
             a);
    snprintf(expected, sizeof expected, "%s%s", once, once);
    assert_string_equal(said, expected);
    free(said);
    assert_int_equal(output_close(&o), 0);
}

static void only_a_log_that_is_a_file_is_rotated(void **state)
{
    struct output o = OUTPUT_CLOSED;
    char a[PATH_BYTES];

    (void)state;
    assert_false(output_is_rotated(&o));
    assert_int_equal(output_open_log(&o, "output", "/dev/null"), 0);
    assert_false(output_is_rotated(&o));
    assert_int_equal(output_close(&o), 0);
    assert_int_equal(output_open_document(&o, "json", path_of(a, "a")), 0);
    assert_false(output_is_rotated(&o));
    output_abandon(&o);
    assert_int_equal(output_open_log(&o, "output", a), 0);
    assert_true(output_is_rotated(&o));
    assert_int_equal(output_close(&o), 0);
}

/* Its name is "-": that of no file. */
static void stdout_is_not_reopened(void **state)
{
    const int kept = dup(STDOUT_FILENO);
    struct output o;
    char a[PATH_BYTES];
    bool is_rotated = true;
    int file, opened, closed = -1;

    (void)state;
    fflush(stdout);
    assert_int_equal(chdir(directory), 0);
    file = open(path_of(a, "a"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    opened = output_open_log(&o, "json", "-");
    if (opened == 0) {
        is_rotated = output_is_rotated(&o);
        output_reopen(&o, NULL);
        fputs("whole", o.stream);
        closed = output_close(&o);
    }
    dup2(kept, STDOUT_FILENO); /* before the first assert, which may print */
    close(kept);
    close(file);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(opened, 0);
    assert_false(is_rotated);
    assert_int_equal(closed, 0);
    assert_content(a, "whole");
    assert_int_equal(access(path_of(a, "-"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_name_nothing_is_opened),
        cmocka_unit_test(a_file_that_cannot_be_emptied_is_named),
        cmocka_unit_test(a_document_follows_the_last_one_if_it_cannot_take_its_place),
        cmocka_unit_test(a_reopened_output_continues_in_a_new_file),
        cmocka_unit_test(an_output_that_failed_is_written_again_when_reopened),
        cmocka_unit_test(failed_writes_of_others_to_the_descriptor_are_reported),
        cmocka_unit_test(a_loss_is_said_once_until_it_is_reopened),
        cmocka_unit_test(only_a_log_that_is_a_file_is_rotated),
        cmocka_unit_test(stdout_is_not_reopened),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_files);
}
